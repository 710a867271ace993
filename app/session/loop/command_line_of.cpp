#include "session/loop/command_line_of.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "derived/derived_maps.h"
#include "model/head_text.h"
#include "question/question_fields.h"
#include "session/figure_request.h"
#include "session/shown.h"
#include "session/tool_state.h"
#include "view/view_names.h"

namespace headlight {
namespace {

using CommandWords = std::vector<std::string>;

void add(CommandWords& words, const char* option, std::string value) {
  words.emplace_back(option);
  words.push_back(std::move(value));
}

void add_head(CommandWords& words, const HeadRef& head) { add(words, "--head", head_text(head)); }

/// Where the picture differs from what the command line draws by itself: type, colours, what is folded.
void add_looks(CommandWords& words, const AppState& state, const FigureRequest& order) {
  const bool of_sentence = order.kind == FigureKind::sentence;
  const bool of_cells = order.kind == FigureKind::compare || order.kind == FigureKind::changes ||
                        (shows_folds(order.kind) && order.kind != FigureKind::flow);
  if (order.other && reduced_by(order.other->kind))
    add(words, "--reduce", reduction_text({.by = *reduced_by(order.other->kind), .heads = true}));
  else if (order.other) add(words, "--maps", std::string(name(order.other->kind)));
  const auto stack = static_cast<std::size_t>(order.view.chosen.stack);
  if (state.folded && !order.other && !state.folded->possible[stack].too_long && order.kind != FigureKind::patch) {
    if (order.fold.words && !of_sentence && order.kind != FigureKind::changes) add(words, "--fold", "words");
    if (const FoldedStack* folded = shown_fold(state, order.view.chosen.stack);
        folded && folded->fold.done.pair != PairPart::all)
      add(words, "--pair", std::string(name(order.fold.pair)));
  }
  if (of_cells && order.view.own_range && order.kind != FigureKind::text && !of_sentence)
    words.emplace_back("--own-range");
  if (colours_weights(order.kind) && order.view.range) add(words, "--range", range_text(*order.view.range));
  if (of_cells && order.view.scale == Scale::log && !of_sentence) add(words, "--colours", "log");
  if (of_cells && order.colours != ColourMap::teal) add(words, "--colour-map", std::string(name(order.colours)));
  if (order.width == kSlideMm) add(words, "--width", "slide");
  else if (order.width != kColumnMm) add(words, "--width", std::to_string(std::lround(order.width)));
  if (order.theme == Theme::dark) add(words, "--theme", "dark");
  if (order.language != default_settings().language)
    add(words, "--language", order.language == Language::zh ? "zh" : "en");
}

/// `3,7-9`
std::string list_of(const std::vector<Index>& tokens) {
  std::string list;
  for (std::size_t at = 0; at < tokens.size();) {
    std::size_t end = at + 1;
    while (end < tokens.size() && tokens[end] == tokens[end - 1] + 1) ++end;
    list += (list.empty() ? "" : ",") + std::to_string(tokens[at]);
    if (end - at > 1) list += "-" + std::to_string(tokens[end - 1]);
    at = end;
  }
  return list;
}

std::string list_of(const std::vector<HeadRef>& heads) {
  return joined_texts(heads, ",", [](const HeadRef& head) { return head_text({head.layer, head.head}); });
}

/// The token of A for one of B, in whose question a command counts.
Index clean_query(const AppState& state, Index of_b) {
  const auto a = state.kept ? compared_trace(state) : nullptr;
  if (!a || !state.trace) return of_b;
  for (const auto& [of_a, token] : patch_pairs(*a, *state.trace.answer(), Stack::self, state.view.alignment))
    if (token == of_b) return of_a;
  return of_b;
}

/// The picture that the window would write of what it shows.
void add_picture(CommandWords& words, const AppState& state, const FigureRequest& order) {
  const FigureKind kind = order.kind;
  add(words, "--view", std::string(std::ranges::find(kNamedViews, kind, &NamedView::figure)->name));
  const ViewState& view = order.view;
  const std::vector<HeadRef> lines =
      kind == FigureKind::flow && view.flow.heads ? flow_heads(state) : std::vector<HeadRef>{};
  if (lines.empty()) add_head(words, view.chosen);
  else if (view.chosen.stack != Stack::self) add(words, "--stack", std::string(stack_name(view.chosen.stack)));
  if (!lines.empty()) add(words, "--heads", list_of(lines));
  if (shows_all_heads(kind) && !order.heads.empty() && !(order.other && is_of_layers(order.other->kind))) {
    add(words, "--order", std::string(name(view.order)));
    if (view.order.ascending) words.emplace_back("--ascending");
    if (view.order.by == HeadOrder::By::found) {
      add(words, "--from", view.find.words.from);
      add(words, "--to", view.find.words.to);
    }
  }
  if (kind == FigureKind::text) {
    const ShadeChoice shades = shade_choice(view);
    if (!shades.words.empty()) add(words, shades.columns ? "--keys" : "--queries", list_of(shades.words));
    if (shades.heads != ShadeHeads::head) add(words, "--mean", std::string(name(shades.heads)));
  }
  if (kind == FigureKind::flow) add(words, "--threshold", shortest_text(view.flow.threshold));
  if (kind == FigureKind::patch && view.patch.form != PatchForm::heads)
    add(words, "--at", std::string(name_in(kPatchForms, view.patch.form)));
  if (shows_two(kind) && view.alignment) add(words, "--align", std::string(name(*view.alignment)));
  const bool of_key = kind == FigureKind::steps || kind == FigureKind::writers || kind == FigureKind::sentence ||
                      kind == FigureKind::changes;
  const bool of_query = of_key || kind == FigureKind::diagram || kind == FigureKind::lens;
  const LensWords& split = kind == FigureKind::patch ? view.patch.words : view.lens;
  if ((kind == FigureKind::lens || kind == FigureKind::patch) && !split.word.empty())
    add(words, "--answers", split.word + (split.minus.empty() ? "" : "," + split.minus));
  if (kind == FigureKind::patch) {
    const PatchMeasure measure = patch_measure(view, *order.trace);
    if (measure.metric) add(words, "--metric", std::string(name(*measure.metric)));
    if (measure.query) add(words, "--query", std::to_string(clean_query(state, *measure.query)));
  }
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
/// both kinds, which the option's quoted string cannot hold.
Result<std::string> against_words(const Document& document) {
  auto words = TRY(request_words(document));
  // A model alone is asked about the words of the other question.
  const bool by_default = document.model && can_read_text(document) && document.source.text == kDefaultSentence;
  if (by_default && !reads_ids(document) && !reads_chat(document)) add(words, "--text", document.source.text);
  std::string line;
  for (const std::string& word : words) {
    const char* quote = word.find('\'') == std::string::npos ? "'" : "\"";
    if (word.find(quote) != std::string::npos) return bad_input("--against", "word", "quotes of one kind", word);
    line += (line.empty() ? "" : " ") + (quote + word) + quote;
  }
  return line;
}

/// The document, or of a batch the sentence that is looked at.
Result<Document> one_sentence(const AppState& state) {
  if (state.requests.size() < 2) return state.document;
  auto lines = TRY(documents_of_lines(state.document));
  return std::move(lines[state.view.sentence]);
}

/// SOURCE and REQUEST of the document, or the session's file where it has the same question.
Result<CommandWords> asking(const AppState& state, const Document& document) {
  auto request = request_words(document);
  if (!request && !state.session_path.empty() && !has_unsaved_changes(state)) return CommandWords{state.session_path};
  return request;
}

}  // namespace

Result<CommandWords> command_words(const AppState& state, CommandGives gives) {
  const ViewState& view = state.view;
  const auto instead = picture_of_tool(state);
  if (gives == CommandGives::picture && instead)
    return CommandWords{"headlight", "figure", instead->source, "-o", "figure.pdf"};
  if (gives == CommandGives::picture && layer_question(state))
    return CommandWords{"headlight", "heads", state.document.model_path, "--relations", "--by", "layer"};
  const bool codes = gives == CommandGives::picture && view.view == View::code && state.trace;
  const bool draws = gives == CommandGives::picture && view.view != View::train && !codes && state.trace;
  const bool explains = gives == CommandGives::explanation && view.pinned;
  if ((draws || codes) && state.prefix)
    return bad_input("copy as command", "prefix", "all tokens (no option cuts them)",
                     "the first " + std::to_string(view.prefix), ErrorCode::not_a_command);
  auto document = TRY(draws ? one_sentence(state) : state.document);
  // Of a patch A, the clean question, is the question of the command, and B the other one.
  const bool patches = draws && seen_figure(state) == FigureKind::patch && state.kept;
  std::optional<Document> other;
  if (state.kept) other = state.kept->document;
  if (patches) std::swap(document, *other);
  const auto request = TRY(asking(state, document));
  const bool of_writers = explains && view.view == View::inside && view.tab == InsideTab::why;
  CommandWords words{"headlight", draws        ? "figure"
                                  : codes      ? "code"
                                  : of_writers ? "why"
                                  : explains   ? "explain"
                                               : "export"};
  words.insert(words.end(), request.begin(), request.end());
  if (draws) {
    FigureRequest order = figure_order(state);
    order.kind = seen_figure(state);
    if (shows_two(order.kind) && state.kept) {
      auto against = TRY(against_words(*other));
      add(words, "--against", std::move(against));
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

std::string shell_line(const CommandWords& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word, ",@%");
  return line;
}

}  // namespace headlight
