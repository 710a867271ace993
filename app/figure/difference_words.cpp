#include "figure/difference_words.h"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "figure/labels.h"
#include "model/head_text.h"
#include "words/figure_words.h"
#include "words/model_words.h"

namespace headlight {
namespace {

constexpr std::size_t kLongestText = 80;  // characters

/// The description of an answer; empty where there is none.
using Aspect = std::string (*)(Language, const NamedAnswer&);

std::string joined(const Tokens& tokens, const char* between) {
  std::string text;
  for (const Token& token : tokens.tokens)
    if (!token.pad) text += (text.empty() ? "" : between) + token.text;
  return text;
}

/// The part of the text that the tokens were cut from; of ids alone what they read like.
std::string words_of(const Tokens& tokens) {
  std::size_t begin = tokens.text.size(), end = 0;
  for (const Token& token : tokens.tokens) {
    if (token.special || token.begin >= token.end) continue;
    begin = std::min(begin, token.begin);
    end = std::max(end, token.end);
  }
  const bool known = begin < end && end <= tokens.text.size();
  return beginning_of(known ? tokens.text.substr(begin, end - begin) : joined(tokens, " "), kLongestText);
}

const PictureInput* picture_of(const NamedAnswer& answer) { return answer.document.picture.get(); }

std::string picture_name(Language, const NamedAnswer& answer) {
  const PictureInput* picture = picture_of(answer);
  return picture ? std::filesystem::path(picture->path).filename().string() : std::string();
}
std::string picture_path(Language, const NamedAnswer& answer) {
  return picture_of(answer) ? picture_of(answer)->path : std::string();
}
std::string picture_hash(Language, const NamedAnswer& answer) {
  return picture_of(answer) ? picture_of(answer)->hash : std::string();
}

std::string source_text(Language, const NamedAnswer& answer) { return words_of(answer.trace.request.tokens); }
std::string target_text(Language, const NamedAnswer& answer) {
  return answer.trace.encoder ? words_of(answer.trace.request.target) : std::string();
}

std::string source_cuts(Language, const NamedAnswer& answer) {
  return beginning_of(joined(answer.trace.request.tokens, "|"), kLongestText);
}
std::string target_cuts(Language, const NamedAnswer& answer) {
  return answer.trace.encoder ? beginning_of(joined(answer.trace.request.target, "|"), kLongestText) : std::string();
}

std::string padding(Language language, const NamedAnswer& answer) {
  std::size_t count = 0;
  for (const Token& token : answer.trace.request.tokens.tokens) count += token.pad;
  return counted(language, count, kAspectWords.padding);
}

std::string model_name(Language language, const NamedAnswer& answer) {
  if (!answer.document.model) return words(language, kAspectWords.random_weights);
  return model_title(language, answer.document);
}

std::string training_step(Language language, const NamedAnswer& answer) {
  return answer.step ? filled(words(language, kAspectWords.step), {std::to_string(*answer.step)}) : "";
}

std::string number(const char* name, Index value) { return std::string(name) + " " + std::to_string(value); }
std::string number(Language language, const Words& text, Index value) {
  return filled(words(language, text), {std::to_string(value)});
}

const Config& config_of(const NamedAnswer& answer) { return answer.trace.model->config; }

std::string kind_of_model(Language language, const NamedAnswer& answer) {
  const Arch arch = config_of(answer).arch;
  return words(language, arch == Arch::encoder_decoder ? kModelWords.encoder_decoder
                         : arch == Arch::encoder       ? kModelWords.encoder
                                                       : kModelWords.decoder);
}

std::string width(Language, const NamedAnswer& answer) { return number("d_model", config_of(answer).d_model); }
std::string heads(Language language, const NamedAnswer& answer) {
  return number(language, kAspectWords.heads, config_of(answer).num_heads);
}
std::string layers(Language language, const NamedAnswer& answer) {
  const Config& config = config_of(answer);
  std::string text = number(language, kAspectWords.layers, config.num_layers);
  if (config.arch == Arch::encoder_decoder) text += "+" + std::to_string(config.layers_of_encoder());
  return text;
}

// The parts of a shape that are rarely changed, by the names of the command line.
std::string head_dim(Language, const NamedAnswer& answer) {
  const Config& config = config_of(answer);
  return config.head_dim > 0 ? number("d_k", config.head_dim) : "d_k = d_model / heads";
}
std::string kv_heads(Language, const NamedAnswer& answer) {
  const Config& config = config_of(answer);
  return config.kv_heads() == config.num_heads ? "kv heads = heads" : number("kv heads", config.kv_heads());
}
std::string rotary_columns(Language, const NamedAnswer& answer) {
  const Index columns = config_of(answer).rotary_columns;
  return columns > 0 ? number("rotary columns", columns) : std::string();
}
std::string ffn(Language, const NamedAnswer& answer) { return number("ffn", config_of(answer).ffn); }
std::string positions(Language, const NamedAnswer& answer) {
  return "position " + std::string(name(config_of(answer).position));
}
std::string norms(Language, const NamedAnswer& answer) {
  return std::string(name(config_of(answer).norm)) + " norm, " + std::string(name(config_of(answer).norm_kind));
}
std::string activation(Language, const NamedAnswer& answer) {
  return std::string(name(config_of(answer).activation)) + (config_of(answer).gated ? ", gated" : "");
}
std::string output_layer(Language, const NamedAnswer& answer) { return config_of(answer).tied ? "tied" : "untied"; }
std::string biases(Language, const NamedAnswer& answer) {
  const Biases& bias = config_of(answer).bias;
  std::string text;
  for (const auto& [on, of] : {std::pair{bias.query, "query"},
                               {bias.key, "key"},
                               {bias.value, "value"},
                               {bias.output, "output"},
                               {bias.ffn, "ffn"}})
    if (on) text += (text.empty() ? "bias " : ",") + std::string(of);
  return text.empty() ? "no bias" : text;
}

std::string seed(Language language, const NamedAnswer& answer) {
  if (answer.trace.request.model) return {};
  return filled(words(language, kAspectWords.seed), {std::to_string(answer.trace.request.config.seed)});
}

/// The mask of the layers that have none of their own.
template <Stack stack>
std::string mask_of_stack(Language language, const NamedAnswer& answer) {
  if (!answer.trace.has(stack)) return {};
  for (Index layer = 0; layer < answer.trace.num_layers(stack); ++layer)
    if (!layer_edit_or_none(answer.trace.request.edits, stack, layer).mask)
      return filled(words(language, kAspectWords.mask),
                    {(answer.trace.encoder ? stack_title(language, stack) + " " : std::string()) +
                     mask_title(language, answer.trace.mask(stack, layer).kind())});
  return {};
}

template <Stack stack>
std::string painted_in_stack(Language language, const NamedAnswer& answer) {
  const std::size_t count = answer.trace.has(stack) ? mask_spec(answer.trace.request, stack).painted.size() : 0;
  return counted(language, count, kAspectWords.painted);
}

std::string heads_off(Language language, const NamedAnswer& answer) {
  const Edits& edits = answer.trace.request.edits;
  if (edits.off.empty()) return words(language, kAspectWords.all_heads_on);
  std::string heads;
  for (const HeadRef& head : edits.off)
    heads += " " + (answer.trace.encoder ? stack_title(language, head.stack) + " " : "") + head_label(head);
  if (edits.off_as == OffAs::mean) heads += words(language, kAspectWords.to_their_mean);
  return filled(words(language, kAspectWords.off), {heads});
}

std::string scale(Language language, const NamedAnswer& answer) {
  const auto& by_hand = answer.trace.request.edits.scale;
  return filled(words(language, kAspectWords.scale), {by_hand ? tick_number(*by_hand) : "1/√d_k"});
}

std::string by_hand(Language language, const NamedAnswer& answer) {
  return counted(language, answer.trace.request.edits.weights.size(), kAspectWords.by_hand);
}

std::string parts_off_in(Language language, const PartsOff& parts) {
  std::string text;
  const auto add = [&](bool off, const Words& part) { text += off ? std::string(" ") + words(language, part) : ""; };
  add(parts.residual, kAspectWords.no_residual);
  add(parts.norm, kAspectWords.no_norm);
  add(parts.ffn, kAspectWords.no_ffn);
  return text;
}

std::string layer_edits(Language language, const NamedAnswer& answer) {
  if (answer.trace.request.edits.layers.empty()) return words(language, kAspectWords.layers_alike);
  std::string edits;
  const auto add = [&](const Words& text, const std::string& value) {
    edits += " " + filled(words(language, text), {value});
  };
  for (const LayerEdit& edit : answer.trace.request.edits.layers) {
    if (!edits.empty()) edits += ";";
    if (answer.trace.encoder) edits += " " + stack_title(language, edit.stack);
    add(kAspectWords.layer, std::to_string(edit.layer));
    if (edit.mask) add(kAspectWords.mask_of_layer, mask_words(*edit.mask));
    if (edit.scale) add(kAspectWords.scale, tick_number(*edit.scale));
    edits += parts_off_in(language, edit.parts);
  }
  return filled(words(language, kAspectWords.by_layer), {edits});
}

std::string dropout(Language language, const NamedAnswer& answer) {
  const Edits& edits = answer.trace.request.edits;
  if (edits.dropout == 0) return words(language, kAspectWords.no_dropout);
  return filled(words(language, kAspectWords.dropout),
                {tick_number(edits.dropout), std::to_string(edits.dropout_seed)});
}

std::string source_path(Language, const NamedAnswer& answer) { return answer.document.model_path; }

/// A field whose words are not `name value`: an answer contains more than its document, for example its sentence.
/// No aspect: the words of another row include this field.
struct FieldAspect {
  std::string_view field;
  Aspect aspect;
};
constexpr FieldAspect kOfTheModel[] = {{"arch", kind_of_model},
                                       {"d_model", width},
                                       {"num_heads", heads},
                                       {"layers", layers},
                                       {"head_dim", head_dim},
                                       {"num_kv_heads", kv_heads},
                                       {"ffn", ffn},
                                       {"position", positions},
                                       {"norm", norms},
                                       {"norm_type", nullptr},
                                       {"activation", activation},
                                       {"gated", nullptr},
                                       {"tied", output_layer},
                                       {"bias", biases},
                                       {"seed", seed},
                                       {"random", nullptr},
                                       {"rotary_columns", rotary_columns},
                                       {"encoder_layers", nullptr}};
constexpr FieldAspect kOfTheAttention[] = {{"mask", mask_of_stack<Stack::self>},
                                           {"mask", painted_in_stack<Stack::self>},
                                           {"encoder_mask", mask_of_stack<Stack::encoder>},
                                           {"encoder_mask", painted_in_stack<Stack::encoder>},
                                           {"cross_mask", mask_of_stack<Stack::cross>},
                                           {"cross_mask", painted_in_stack<Stack::cross>},
                                           {"off", heads_off},
                                           {"scale", scale},
                                           {"weights", by_hand},
                                           {"layer_edits", layer_edits},
                                           {"dropout", dropout}};

/// A value as its options give it: `weight 0.0.1.0=0.5`.
std::string in_options(const QuestionField& field, const Document& document) {
  OptionWords options;
  field.put(document, options);
  std::string text;
  for (const std::string& word : options.words)
    text += (text.empty() ? "" : " ") + (word.starts_with("--") ? word.substr(2) : word);
  return text;
}

/// Of two values in JSON each from the first difference on.
std::pair<std::string, std::string> in_json(const QuestionField& field, const Document& a, const Document& b) {
  nlohmann::json before, after;
  field.write(a, before);
  field.write(b, after);
  const std::string one = before.dump(), other = after.dump();
  const auto from = static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
  const auto rest = [&](const std::string& text) {
    return field.name + (" …" + beginning_of(text.substr(from), kLongestText));
  };
  return {rest(one), rest(other)};
}

/// The words for what differs between two answers.
struct Differences {
  Language language;
  const NamedAnswer &a, &b;
  const QuestionFields& fields;
  DifferenceWords words = {};

  bool add(std::string before, std::string after) {
    if (before == after) return false;
    words.a.push_back(before.empty() ? "—" : std::move(before));
    words.b.push_back(after.empty() ? "—" : std::move(after));
    return true;
  }
  bool add(Aspect aspect) { return add(aspect(language, a), aspect(language, b)); }
  /// A row of the table, in the words of its aspects. Values that differ have words in any case.
  bool add(const QuestionField& field, std::span<const FieldAspect> aspects) {
    bool differs = false, has_aspect = false;
    for (const FieldAspect& one : aspects) {
      if (one.field != field.name) continue;
      has_aspect = true;
      differs = (one.aspect && add(one.aspect)) || differs;
    }
    if (!has_aspect && field.text) {
      const auto text = [&](const NamedAnswer& answer) { return field.name + (" " + field.text(answer.document)); };
      return add(text(a), text(b));
    }
    if (differs || field.part == FieldPart::model || field.is_same(a.document, b.document)) return differs;
    if (add(in_options(field, a.document), in_options(field, b.document))) return true;
    auto [before, after] = in_json(field, a.document, b.document);
    return add(std::move(before), std::move(after));
  }
  bool add(FieldPart part, std::span<const FieldAspect> aspects) {
    bool differs = false;
    for (const QuestionField& field : fields)
      if (field.part == part) differs = add(field, aspects) || differs;
    return differs;
  }
};

}  // namespace

DifferenceWords difference_words(Language language, const NamedAnswer& a, const NamedAnswer& b,
                                 const QuestionFields& fields) {
  Differences all{language, a, b, fields};
  if (picture_of(a) && picture_of(b)) {  // their tokens are named alike
    if (!all.add(picture_name) && !all.add(picture_path)) all.add(picture_hash);
  } else if (!all.add(source_text)) {
    all.add(source_cuts);
  }
  if (!all.add(target_text)) all.add(target_cuts);
  all.add(padding);
  if (a.trace.model != b.trace.model) {
    // Different names are enough; models of the same name are distinguished by their shapes.
    const bool one_training = a.step && b.step && a.document.model_path == b.document.model_path;
    bool differs = all.add(one_training ? training_step : model_name);
    if (!differs) differs = all.add(FieldPart::model, kOfTheModel);
    if (!differs) all.add(source_path);
  }
  all.add(FieldPart::mask, kOfTheAttention);
  all.add(FieldPart::edits, kOfTheAttention);
  return std::move(all.words);
}

std::vector<std::string> edit_words(Language language, const NamedAnswer& answer) {
  const Edits& edits = answer.trace.request.edits;
  std::vector<std::string> words;
  if (!edits.off.empty()) words.push_back(heads_off(language, answer));
  if (!edits.weights.empty()) words.push_back(by_hand(language, answer));
  if (!edits.layers.empty()) words.push_back(layer_edits(language, answer));
  if (edits.dropout != 0) words.push_back(dropout(language, answer));
  return words;
}

std::string in_a_line(const std::vector<std::string>& words) { return joined_texts(words, " · "); }

}  // namespace headlight
