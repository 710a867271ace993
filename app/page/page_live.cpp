// The model of a page that answers other sentences: its weights as one array, and where each matrix lies in it.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/utf8.h"
#include "document/tokenizers.h"
#include "model/weight_tree.h"
#include "page/page_data.h"
#include "page/page_numbers.h"

namespace headlight {
namespace {

using nlohmann::json;

/// Matrices one after another, counted first and written then.
struct Numbers {
  std::vector<Matrix> matrices = {};
  std::size_t count = 0;
  bool half = true;  // whether each is a float16 exactly

  /// [offset, rows, columns]; null for an empty matrix.
  json add(Matrix matrix) {
    if (matrix.size() == 0) return nullptr;
    half = half && same(matrix, rounded_to_float16(matrix));
    json at{count, matrix.rows(), matrix.cols()};
    count += static_cast<std::size_t>(matrix.size());
    matrices.push_back(std::move(matrix));
    return at;
  }
  json add(const Linear& weights) {
    if (weights.is_identity() && weights.bias.size() == 0) return nullptr;
    Matrix all = weights.is_identity() ? Matrix() : weight_rows(weights, 0, weights.outputs());
    return {{"weight", add(std::move(all))}, {"bias", add(Matrix(weights.bias))}};
  }
  json add(const NormWeights& weights) {
    return {{"scale", add(Matrix(weights.scale))}, {"shift", add(Matrix(weights.shift))}, {"epsilon", weights.epsilon}};
  }
  /// The layers of each block by their names (model/weight_tree.h).
  json add(const StackWeights& weights, json tokens) {
    json object{{"tokens", std::move(tokens)},
                {"embedding_scale", weights.embeddings.scale},
                {"final_norm", add(*weights.final_norm)}};
    for (const BlockWeights& block : weights.blocks) {
      json layers = json::object();
      for_each_layer(block, [&](const LayerName& layer, const auto& part) { layers[layer.name] = add(part); });
      object["blocks"].push_back(std::move(layers));
    }
    return object;
  }
};

/// The whole model; tables that its parts share are there once.
json model_object(const Model& model, Numbers& numbers) {
  const auto table_of = [&](const Linear& table) { return numbers.add(weight_rows(table, 0, table.outputs())); };
  const json tokens = table_of(*model.embeddings.tokens);
  json object;
  object["arch"] = name(model.config.arch);
  object["stacks"]["self"] = numbers.add(model, tokens);
  if (model.encoder) {
    const bool shared = model.encoder->embeddings.tokens == model.embeddings.tokens;
    object["stacks"]["encoder"] =
        numbers.add(*model.encoder, shared ? tokens : table_of(*model.encoder->embeddings.tokens));
  }
  if (model.output) {
    const bool shared = model.output->weight == model.embeddings.tokens;
    object["output"] = {{"weight", shared ? tokens : table_of(*model.output->weight)},
                        {"bias", numbers.add(Matrix(model.output->bias))},
                        {"scale", model.output->scale}};
  }
  return object;
}

json token_object(const Token& token) {
  return {
      {"id", token.id}, {"text", token.text}, {"special", token.special}, {"pad", token.pad}, {"known", token.known}};
}

/// A rule as web/live_tokens.js reads it; null of one that it does not know.
json rule_object(const Normalizer& rule) {
  const auto utf8 = [](const std::u32string& codes) {
    std::string text;
    for (const char32_t code : codes) append_utf8(text, code);
    return text;
  };
  if (std::holds_alternative<StripAccents>(rule)) return json::array({"strip_accents"});
  if (std::holds_alternative<Lowercase>(rule)) return json::array({"lowercase"});
  if (const auto* form = std::get_if<UnicodeForm>(&rule)) {
    constexpr const char* kForms[] = {"NFC", "NFD", "NFKC", "NFKD"};
    return json::array({"form", kForms[static_cast<std::size_t>(*form)]});
  }
  if (const auto* replace = std::get_if<Replace>(&rule))
    if (const auto* found = std::get_if<std::u32string>(&replace->pattern); found && !found->empty())
      return json::array({"replace", utf8(*found), utf8(replace->content)});
  return nullptr;
}

/// Words by their costs: [[4.25, "了 是"], …].
json costs_object(const LikelyWords& likely) {
  std::map<double, std::string> words;
  for (const LikelyWords::Word& word : likely.words()) {
    std::string& line = words[word.cost];
    line += (line.empty() ? "" : " ") + word.text;
  }
  json list = json::array();
  for (auto& [cost, line] : words) list.push_back({cost, std::move(line)});
  return list;
}

/// How the page cuts a text: the words by their ids, as the vocabulary spells them, what cuts it into words, and what
/// stands before and after.
json side_object(const Tokenizer& tokenizer, const Tokens& tokens) {
  const WordTable& table = words_of(tokenizer);
  std::vector<std::string> words(table.ids());
  for (std::size_t id = 0; id < words.size(); ++id) words[id] = table.text(static_cast<std::int32_t>(id));
  json object{{"special", json::array()}, {"before", json::array()}, {"after", json::array()}};
  for (const AddedToken& added : tokenizer.added.tokens()) {
    const auto id = static_cast<std::size_t>(added.id);
    if (id >= words.size()) words.resize(id + 1);
    words[id] = added.content;
    object["special"].push_back(added.id);
  }
  const auto* pieces = std::get_if<WordPiece>(&tokenizer.model);
  const std::string& unknown = pieces ? pieces->unknown : std::get<WordLevel>(tokenizer.model).unknown;
  object["unknown"] = table.id(unknown).value_or(0);
  for (const AddedToken& added : tokenizer.added.tokens())
    if (added.content == unknown) object["unknown"] = added.id;
  if (pieces) object["prefix"] = pieces->prefix;
  const Lexicon& lexicon = *lexicon_of(tokenizer);
  const std::set<std::string> known(words.begin(), words.end());
  std::vector<std::string> others;
  std::copy_if(lexicon.words.begin(), lexicon.words.end(), std::back_inserter(others),
               [&](const std::string& word) { return !known.contains(word); });
  std::sort(others.begin(), others.end());
  object["others"] = others;
  object["words"] = std::move(words);
  if (lexicon.likely) object["likely"] = costs_object(*lexicon.likely);
  object["rules"] = json::array();
  for (const Normalizer& rule : tokenizer.normalizers) object["rules"].push_back(rule_object(rule));
  std::size_t begin = 0, end = tokens.size();
  for (; begin < end && tokens.tokens[begin].special; ++begin)
    object["before"].push_back(token_object(tokens.tokens[begin]));
  for (; end > begin && tokens.tokens[end - 1].special && !tokens.tokens[end - 1].pad; --end) {}
  for (std::size_t i = end; i < tokens.size(); ++i) object["after"].push_back(token_object(tokens.tokens[i]));
  return object;
}

/// Whether the page can cut text as this tokenizer does: whole words, or words spelt in pieces down to characters.
bool cuts_words(const std::shared_ptr<const Tokenizer>& one) {
  if (!one || !lexicon_of(*one) || one->pre_tokenizers.size() != 1 || one->foreign) return false;
  const auto is_plain = [](const AddedToken& added) {
    return !added.normalized && !added.single_word && !added.strip_left && !added.strip_right;
  };
  const auto& added = one->added.tokens();
  const auto is_known = [](const Normalizer& rule) { return !rule_object(rule).is_null(); };
  if (!std::all_of(added.begin(), added.end(), is_plain) ||
      !std::all_of(one->normalizers.begin(), one->normalizers.end(), is_known))
    return false;
  const auto* pieces = std::get_if<WordPiece>(&one->model);
  return pieces ? pieces->character_fallback : std::holds_alternative<WordLevel>(one->model);
}

Error cannot(const std::string& what) {
  return bad_input("--live", "", "one of the models that come along, whose words and layers the page computes itself",
                   what);
}

bool is_plain(const AttentionWeights& weights) {
  return !weights.query_norm && !weights.key_norm && !weights.scale && !weights.relative_bias && !weights.distances &&
         weights.softcap == 0 && weights.sinks.size() == 0 && weights.window == 0 && !weights.rotary;
}

bool is_plain(const NormWeights& norm) { return !norm.is_identity() && norm.kind == NormKind::layer_norm; }

/// Whether web/live_forward.js computes such a stack: plain embeddings and pre-norm blocks, the feed-forward not gated.
bool is_plain(const StackWeights& stack) {
  const Embeddings& table = stack.embeddings;
  if (!table.tokens || table.positions.size() > 0 || table.token_types.size() > 0 || table.pad_id || table.norm ||
      !table.projection.is_identity() || stack.rotary || !stack.final_norm || !is_plain(*stack.final_norm))
    return false;
  return std::all_of(stack.blocks.begin(), stack.blocks.end(), [](const BlockWeights& block) {
    return !block.experts && !block.parallel && !block.attention_after_norm && !block.ffn_after_norm &&
           block.ungated() && block.has_ffn() && is_plain(block.self) && (!block.cross || is_plain(*block.cross)) &&
           is_plain(block.attention_norm) && is_plain(block.ffn_norm) && (!block.cross || is_plain(block.cross_norm));
  });
}

}  // namespace

Status check_live(const Document& document) {
  const Model* model = document.model.get();
  if (!model || model->given) return cannot(model ? "numbers without a model" : "fresh random weights");
  const Tokenizers* tokenizers = document.tokenizers.get();
  if (!tokenizers || !cuts_words(tokenizers->source) || (model->encoder && !cuts_words(tokenizers->target)))
    return cannot("a tokenizer of another kind");
  for (const LayerEdit& edit : document.edits.layers)
    if (edit.parts.any()) return cannot("a layer without its residual, norm or feed-forward");
  const Config& config = model->config;
  if (config.norm != Norm::pre || config.activation != Activation::gelu || config.position != Position::sinusoidal ||
      !is_plain(*model) || (model->encoder && !is_plain(*model->encoder)))
    return cannot("layers of another kind");
  if (model->output && (!model->output->transform.is_identity() || model->output->transform_norm))
    return cannot("an output layer with a transform");
  return Done{};
}

void write_live(const Trace& trace, const Document& document, PageSink& sink) {
  const Tokenizers& tokenizers = *document.tokenizers;
  const Request& request = trace.request;
  Numbers numbers;
  json object = model_object(*trace.model, numbers);
  object["dtype"] = numbers.half ? "float16" : "float32";
  object["text"] = document.source.text;
  object["source_side"] = side_object(*tokenizers.source, trace.model->encoder ? request.tokens : trace.query_tokens());
  object["ends"] = tokenizers.ends;
  if (trace.model->encoder) {
    object["target"] = document.target.text;
    object["target_side"] = side_object(*tokenizers.target, request.target);
  }
  std::string text = page_json(object);
  text.pop_back();
  sink(text + ",\"numbers\":\"");
  Base64Encoder encoder;
  if (sink.only_counts()) sink.bytes += base64_size(numbers.count * (numbers.half ? 2 : 4));
  else
    for (const Matrix& matrix : numbers.matrices) {
      std::string bytes, part;
      if (numbers.half) append_float16(matrix, bytes);
      else bytes.assign(reinterpret_cast<const char*>(matrix.data()), static_cast<std::size_t>(matrix.size()) * 4);
      encoder.add(bytes, part);
      sink(part);
    }
  std::string rest;
  encoder.finish(rest);
  sink(rest + "\"}");
}

}  // namespace headlight
