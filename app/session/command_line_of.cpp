#include "session/command_line_of.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/formatted.h"
#include "base/shell_word.h"
#include "derived/derived_maps.h"
#include "model/config_fields.h"
#include "model/head_text.h"
#include "session/figure_request.h"
#include "session/head_grid.h"
#include "text/words.h"
#include "view/view_names.h"

namespace headlight {
namespace {

using Words = std::vector<std::string>;

void add(Words& words, const char* option, std::string value) {
  words.emplace_back(option);
  words.push_back(std::move(value));
}

/// Fresh weights: the fields that differ from the shape that the command line begins with.
struct FieldWords {
  Words& words;
  const Config& config;

  void operator()(const SizeField& field) const {
    add_other(field, [](Index size) { return std::to_string(size); });
  }
  void operator()(const NumberField& field) const {
    add_other(field, [](float value) { return shortest_text(value); });
  }
  template <class Enum>
  void operator()(const ChoiceField<Enum>& field) const {
    add_other(field, [](Enum value) { return std::string(name(value)); });
  }
  void operator()(const SeedField& field) const {
    add_other(field, [](std::uint64_t seed) { return std::to_string(seed); });
  }
  void operator()(const FlagField& field) const {
    if (config.*field.value != Config{}.*field.value) words.emplace_back(field.option);
  }
  void operator()(const BiasField& field) const {
    const Biases& bias = config.*field.value;
    if (!bias.any()) return words.emplace_back("--no-bias"), void();
    add_other(field, [](const Biases& some) {
      std::string list;
      for (const BiasName& one : kBiasNames)
        if (some.*one.value) list.append(list.empty() ? "" : ",").append(one.name);
      return list;
    });
  }

 private:
  void add_other(const auto& field, const auto& text) const {
    if (config.*field.value != Config{}.*field.value) add(words, field.option, text(config.*field.value));
  }
};

void add_ids(Words& words, const char* option, const auto& ids) {
  add(words, option, joined_texts(ids, ",", [](auto id) { return std::to_string(id); }));
}

void add_text(Words& words, const TextInput& text, const char* plain, const char* by_hand) {
  if (text.hand_cuts) add(words, by_hand, mark_tokens(text.text, *text.hand_cuts));
  else add(words, plain, text.text);
}

void add_chat(Words& words, const Chat& chat) {
  for (const ChatTurn& turn : chat.turns)
    add(words, "--chat", std::string(name_in(kChatRoles, turn.role)) + ":" + turn.text);
  if (chat.open) words.emplace_back("--chat-open");
}

void add_texts(Words& words, const Document& document) {
  const bool two_sides = config_of(document).arch == Arch::encoder_decoder;
  if (has_own_inputs(document)) return;
  if (reads_ids(document)) add_ids(words, "--ids", document.source.ids);
  else if (reads_chat(document)) add_chat(words, document.chat);
  else add_text(words, document.source, "--text", "--tokens");
  if (takes_pairs(document) && !document.text_pair.empty()) add(words, "--text-pair", document.text_pair);
  if (reads_ids(document) && !document.token_types.empty()) add_ids(words, "--token-type-ids", document.token_types);
  if (two_sides && reads_ids(document, TextSide::target)) add_ids(words, "--decoder-ids", document.target.ids);
  else if (two_sides) add_text(words, document.target, "--target", "--target-tokens");
  const bool cuts =
      !is_checkpoint(document) && (!document.source.hand_cuts || (two_sides && !document.target.hand_cuts));
  if (cuts && document.source.split != Split::words) add(words, "--split", std::string(name(document.source.split)));
  if (document.pad > 0) add(words, "--pad", std::to_string(document.pad));
}

/// The words of a mask; an Error for a mask that came from a file or was painted.
Result<std::string> mask_word(const MaskSpec& mask) {
  const char* said = "what an option can say (a saved session can be named in its place)";
  if (!mask.painted.empty())
    return bad_input("copy as command", "mask", said, "painted cells", ErrorCode::not_a_command);
  if (mask.given || mask.batch)
    return bad_input("copy as command", "mask", said, "a mask from a file", ErrorCode::not_a_command);
  return mask_words(mask);
}

Status add_masks(Words& words, const Document& document) {
  const bool two_stacks = config_of(document).arch == Arch::encoder_decoder;
  for (const auto& [option, stack] : {std::pair("--mask", Stack::self), std::pair("--encoder-mask", Stack::encoder),
                                      std::pair("--cross-mask", Stack::cross)}) {
    if (stack != Stack::self && !two_stacks) continue;
    const MaskSpec& mask = mask_of(document, stack);
    MaskSpec usual;
    usual.causal = stack == Stack::self && !has_own_inputs(document) && is_causal_by_default(config_of(document).arch);
    if (mask == usual) continue;
    auto word = mask_word(mask);
    if (!word) return word.error();
    add(words, option, std::move(*word));
  }
  return Done{};
}

std::string stack_prefix(Stack stack) {
  return stack == Stack::self ? std::string() : std::string(stack_name(stack)) + ":";
}

Status add_edits(Words& words, const Edits& edits) {
  if (edits.scale) add(words, "--scale", shortest_text(*edits.scale));
  std::string off = joined_texts(edits.off, ",", head_text);
  for (const LayerEdit& edit : edits.layers)
    for (const BlockPart part : kBlockParts)
      if (const auto field = field_of(part); field && edit.parts.*field)
        off += (off.empty() ? "" : ",") + stack_prefix(edit.stack) + std::string(name(part)) + ":" +
               std::to_string(edit.layer);
  if (!off.empty()) add(words, "--off", std::move(off));
  if (edits.off_as == OffAs::mean) add(words, "--off-as", "mean");
  for (const WeightEdit& edit : edits.weights)
    add(words, "--weight",
        head_text(edit.head) + "." + std::to_string(edit.cell.query) + "." + std::to_string(edit.cell.key) + "=" +
            shortest_text(edit.weight));
  for (const LayerEdit& edit : edits.layers) {
    const std::string layer = stack_prefix(edit.stack) + std::to_string(edit.layer) + "=";
    if (edit.mask) {
      const auto word = mask_word(*edit.mask);
      if (!word) return word.error();
      add(words, "--layer-mask", layer + *word);
    }
    if (edit.scale) add(words, "--layer-scale", layer + shortest_text(*edit.scale));
  }
  if (edits.dropout > 0) {
    add(words, "--dropout", shortest_text(edits.dropout));
    if (edits.dropout_seed != 0) add(words, "--dropout-seed", std::to_string(edits.dropout_seed));
  }
  return Done{};
}

void add_head(Words& words, const HeadRef& head) { add(words, "--head", head_text(head)); }

/// Where the picture differs from what the command line draws by itself: type, colours, what is folded.
void add_looks(Words& words, const AppState& state, const FigureRequest& order) {
  const bool of_cells =
      order.kind == FigureKind::compare || (shows_folds(order.kind) && order.kind != FigureKind::flow);
  if (order.other) add(words, "--maps", std::string(name(order.other->kind)));
  const auto stack = static_cast<std::size_t>(order.view.chosen.stack);
  if (order.folded && !order.other && !order.folded->possible[stack].too_long && order.kind != FigureKind::compare) {
    const FoldChoice& fold = order.view.fold;
    const std::string folds = std::string(fold.special ? "special" : "") + (fold.special && fold.words ? "," : "") +
                              (fold.words ? "words" : "");
    if (!folds.empty()) add(words, "--fold", folds);
    if (const FoldedStack* folded = shown_fold(state, order.view.chosen.stack);
        folded && folded->fold.done.pair != PairPart::all)
      add(words, "--pair", std::string(name(fold.pair)));
  }
  if (of_cells && order.view.own_range) words.emplace_back("--own-range");
  if (of_cells && order.view.scale == Scale::log) add(words, "--colours", "log");
  if (of_cells && order.colours != ColourMap::teal) add(words, "--colour-map", std::string(name(order.colours)));
  if (order.width == kSlideMm) add(words, "--width", "slide");
  else if (order.width != kColumnMm) add(words, "--width", std::to_string(std::lround(order.width)));
  if (order.theme == Theme::dark) add(words, "--theme", "dark");
  if (order.language != default_settings().language)
    add(words, "--language", order.language == Language::zh ? "zh" : "en");
}

std::string list_of(const std::vector<HeadRef>& heads) {
  return joined_texts(heads, ",", [](const HeadRef& head) { return head_text({head.layer, head.head}); });
}

/// The picture that the window would write of what it shows.
void add_picture(Words& words, const AppState& state, const FigureRequest& order) {
  const FigureKind kind = order.kind;
  const auto is_kind = [&](const NamedView& named) { return named.figure == kind; };
  add(words, "--view", std::string(std::find_if(std::begin(kNamedViews), std::end(kNamedViews), is_kind)->name));
  const ViewState& view = order.view;
  const std::vector<HeadRef> lines =
      kind == FigureKind::flow && view.flow.heads ? flow_heads(state) : std::vector<HeadRef>{};
  if (lines.empty()) add_head(words, view.chosen);
  else if (view.chosen.stack != Stack::self) add(words, "--stack", std::string(stack_name(view.chosen.stack)));
  if (!lines.empty()) add(words, "--heads", list_of(lines));
  if (shows_all_heads(kind) && !order.heads.empty() && !(order.other && order.other->kind == MapKind::rollout)) {
    add(words, "--order", std::string(name(view.order)));
    if (view.order.ascending) words.emplace_back("--ascending");
    if (view.order.by == HeadOrder::By::found) {
      add(words, "--from", view.find.words.from);
      add(words, "--to", view.find.words.to);
    }
  }
  if (kind == FigureKind::flow) add(words, "--threshold", shortest_text(view.flow.threshold));
  const bool of_query = kind == FigureKind::steps || kind == FigureKind::diagram;
  const bool of_key = kind == FigureKind::steps;
  if (kind == FigureKind::matrix) {
    add(words, "--matrix", path(*order.trace, view.look.matrix));
    if (view.look.cell) add(words, "--row", std::to_string(view.look.cell->row));
    if (view.look.cell) add(words, "--column", std::to_string(view.look.cell->col));
  }
  if (view.pinned && of_query) add(words, "--query", std::to_string(view.pinned->query));
  if (view.pinned && of_key) add(words, "--key", std::to_string(view.pinned->key));
  add_looks(words, state, order);
  add(words, "-o", "figure.pdf");
}

/// The question of A of View::compare as --against takes it. Errors: those of request_words, and a word with quotes of
/// both kinds, which the option's own string cannot hold.
Result<std::string> against_words(const Document& document) {
  const auto words = request_words(document);
  if (!words) return words.error();
  std::string line;
  for (const std::string& word : *words) {
    const char* quote = word.find('\'') == std::string::npos ? "'" : "\"";
    if (word.find(quote) != std::string::npos) return bad_input("--against", "word", "quotes of one kind", word);
    line += (line.empty() ? "" : " ") + (quote + word) + quote;
  }
  return line;
}

/// The document, or of a batch the sentence that is looked at.
Result<Document> one_sentence(const AppState& state) {
  if (state.requests.size() < 2) return state.document;
  auto lines = documents_of_lines(state.document);
  if (!lines) return lines.error();
  return std::move((*lines)[state.view.sentence]);
}

/// SOURCE and REQUEST of the document, or the session's file where it says the same.
Result<Words> asking(const AppState& state, const Document& document) {
  auto request = request_words(document);
  if (!request && !state.session_path.empty() && !has_unsaved_changes(state)) return Words{state.session_path};
  return request;
}

}  // namespace

Result<Words> request_words(const Document& document) {
  Words words;
  if (document.model) words.push_back(document.model_path);
  add_texts(words, document);
  if (!document.model) {
    words.emplace_back("--random");
    for_each_field(FieldWords{words, document.config});
  }
  if (const auto masks = add_masks(words, document); !masks) return masks.error();
  if (const auto edits = add_edits(words, document.edits); !edits) return edits.error();
  return words;
}

Result<Words> command_words(const AppState& state, CommandGives gives) {
  const ViewState& view = state.view;
  if (gives == CommandGives::picture && layer_question(state))
    return Words{"headlight", "heads", state.document.model_path, "--relations", "--by", "layer"};
  const bool codes = gives == CommandGives::picture && view.view == View::code && state.trace;
  const bool draws = gives == CommandGives::picture && view.view != View::train && !codes && state.trace;
  const bool explains = gives == CommandGives::explanation && view.pinned;
  if ((draws || codes) && state.prefix)
    return bad_input("copy as command", "prefix", "all tokens (no option cuts them)",
                     "the first " + std::to_string(view.prefix), ErrorCode::not_a_command);
  const auto document = draws ? one_sentence(state) : state.document;
  if (!document) return document.error();
  const auto request = asking(state, *document);
  if (!request) return request.error();
  Words words{"headlight", draws ? "figure" : codes ? "code" : explains ? "explain" : "export"};
  words.insert(words.end(), request->begin(), request->end());
  if (draws) {
    FigureRequest order = figure_order(state);
    order.kind = seen_figure(state);
    if (order.kind == FigureKind::compare && state.kept) {
      auto against = against_words(state.kept->document);
      if (!against) return against.error();
      add(words, "--against", std::move(*against));
    }
    add_picture(words, state, order);
  } else if (codes) {
    add_head(words, view.chosen);
    add(words, "--dialect", std::string(name(view.code.dialect)));
    if (view.code.block) words.emplace_back("--block");
    add(words, "-o", "attention.py");
  } else if (explains) {
    add_head(words, view.chosen);
    add(words, "--query", std::to_string(view.pinned->query));
    add(words, "--key", std::to_string(view.pinned->key));
  } else {
    add(words, "-o", "attention.json");
  }
  return words;
}

std::string shell_line(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word, ",@%");
  return line;
}

}  // namespace headlight
