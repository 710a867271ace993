#include "session/state.h"

#include <algorithm>

#include "base/formatted.h"
#include "base/utf8.h"
#include "session/lesson_commands.h"
#include "session/model_check.h"
#include "session/shown.h"
#include "session/typing.h"
#include "text/characters.h"

namespace headlight {

const Request* whole_request(const AppState& state) {
  return state.view.sentence < state.requests.size() ? &state.requests[state.view.sentence] : nullptr;
}

const Request* wanted(const AppState& state) { return state.prefix ? &*state.prefix : whole_request(state); }

bool is_edited(const AppState& state) { return state.trace && state.trace.answer() != state.baseline.answer(); }

bool can_say_words(const AppState& state) { return state.trace && state.trace->logits.size() > 0; }

const SentenceArcs& arcs_of(const AppState& state) {
  static const SentenceArcs none;
  const auto question = arcs_question(state);
  const SentenceArcs* known = question ? state.arcs.to(*question) : nullptr;
  return known ? *known : none;
}

std::optional<GuessQuestion> guess_question(const AppState& state) {
  const View view = state.view.view;
  if (is_stale(state) || !can_say_words(state) || view == View::train || nothing_asked(state)) return std::nullopt;
  const Trace& trace = *state.trace;
  if (trace.request.config.arch != Arch::encoder || classifies(*trace.model)) return GuessQuestion{state.trace};
  const auto& tokens = trace.query_tokens().tokens;
  if (is_masked(tokens[static_cast<std::size_t>(trace.answering)])) return GuessQuestion{state.trace};
  const Index row = pinned_or_strongest(state).query;
  // Where words are shown whole, a piece of one is no word that a reader could guess.
  const auto continues = [&](Index at) {
    return at < trace.queries() && tokens[static_cast<std::size_t>(at)].continues;
  };
  if (drawn_fold(state.view).words && (continues(row) || continues(row + 1))) return std::nullopt;
  return can_hide(trace, row) ? std::optional(GuessQuestion{state.trace, row}) : std::nullopt;
}

CellRef pinned_or_strongest(const AppState& state) {
  const HeadRef& head = state.view.chosen;
  return state.view.pinned ? *state.view.pinned : strongest_cell(*state.trace, head, shown_fold(state, head.stack));
}

bool is_random(const AppState& state) { return !state.document.model; }

std::optional<std::vector<std::string>> partly_unknown_words(const AppState& state) {
  const Document& document = state.document;
  const Tokens* tokens = shown_tokens(state);
  if (!tokens || is_typing(state) || !document.model || !document.model->vocabulary || !cuts_words(document))
    return std::nullopt;
  std::vector<std::string> words;
  bool unknown = false;
  for (const Token& token : tokens->tokens) {
    if (token.special || token.pad) continue;
    words.push_back(token.text);
    unknown = unknown || !token.known;
  }
  return unknown && words.size() <= kMostNearWords ? std::optional(std::move(words)) : std::nullopt;
}

bool is_stale(const AppState& state) {
  const Request* request = wanted(state);
  return !request || !state.trace.to(*request);
}

Notice notice_of(const Error& error) { return {Notice::Kind::failed, error.message(), error.code}; }

Notice notice_of(const std::vector<Error>& errors) {
  return {Notice::Kind::failed, joined_texts(errors, "\n", &Error::message), errors.front().code};
}

bool nothing_asked(const AppState& state) {
  const Document& document = state.document;
  if (is_typing(state) && state.trace) return false;  // the answer before stays until the text rests
  constexpr std::size_t kLongBlanks = 1000;
  const std::string& text = document.source.text;
  return reads_text(document) && (sentences(text).empty() || (text.size() < kLongBlanks &&
                                                              std::ranges::all_of(code_points(text), is_white_space)));
}

const Error* problem_of(const AppState& state) {
  if (is_typing(state)) return nullptr;
  const Request* request = wanted(state);
  if (const Error* refused = request ? state.trace.error_of(*request) : nullptr) return refused;
  return state.problem ? &*state.problem : nullptr;
}

Region shown_region(const AppState& state) {
  const HeadRef& head = state.view.chosen;
  const Viewport part = whole_or(state.view.viewport, state.trace->queries(head.stack), state.trace->keys(head.stack));
  return {.head = head,
          .first_query = part.first_query,
          .num_queries = part.num_queries,
          .first_key = part.first_key,
          .num_keys = part.num_keys};
}

bool needs_detail(const AppState& state) {
  const Trace& trace = *state.trace;
  if (shown_maps(state, state.view.chosen.stack)) return false;  // these are drawn whole
  const Region region = shown_region(state);
  const Index queries = trace.queries(region.head.stack), keys = trace.keys(region.head.stack);
  const bool whole = region.num_queries == queries && region.num_keys == keys;
  return !whole || queries > kThumbnail || keys > kThumbnail;
}

const FoldedStack* shown_fold(const AppState& state, Stack stack) {
  if (!folds_tokens(state.view.view) || !state.folded || state.folded->trace != state.trace) return nullptr;
  if (shown_maps(state, stack)) return nullptr;
  const auto& folded = state.folded->stacks[static_cast<std::size_t>(stack)];
  return folded ? &*folded : nullptr;
}

std::optional<InsideQuestion> inside_question(const AppState& state) {
  if (!looks_at_matrices(state.view.view) || !state.trace) return std::nullopt;
  return InsideQuestion{state.trace, state.view.chosen, state.view.look, state.view.pinned, moved_from(state)};
}

std::optional<WriterQuestion> writer_question(const AppState& state) {
  const ViewState& view = state.view;
  if (view.view != View::inside || view.tab != InsideTab::why || !state.trace || !view.pinned) return std::nullopt;
  return WriterQuestion{state.trace, view.chosen, *view.pinned};
}

std::optional<LensQuestion> lens_question(const AppState& state) {
  const ViewState& view = state.view;
  if (view.view != View::inside || view.tab != InsideTab::lens || !can_say_words(state)) return std::nullopt;
  const bool of_query = view.pinned && view.chosen.stack != Stack::encoder && !classifies(*state.trace->model);
  return LensQuestion{state.trace, of_query ? view.pinned->query : state.trace->answering, view.lens};
}

ListingQuestion program_question(const AppState& state) {
  const CodeLook& code = state.view.code;
  const std::vector<Request> batch = state.prefix ? std::vector<Request>{state.trace->request} : state.requests;
  return {state.trace, batch, state.view.chosen, code.dialect, code.block};
}

std::optional<ListingQuestion> listing_question(const AppState& state) {
  if (state.view.view != View::code || !state.trace || is_stale(state)) return std::nullopt;
  return program_question(state);
}

bool shows_live(const AppState& state) {
  return state.live && !state.live->folder.empty() && state.document.model_path == state.live->folder;
}

std::optional<Index> shown_step(const AppState& state) {
  if (!shows_live(state)) return std::nullopt;
  return state.live->shown.value_or(state.live->newest);
}

std::vector<HeadRef> flow_heads(const AppState& state) {
  const HeadRef& chosen = state.view.chosen;
  if (!state.view.flow.heads) return {chosen};
  std::vector<HeadRef> heads;
  for (const Index head : *state.view.flow.heads)
    if (!state.trace || head < state.trace->num_heads(chosen.stack))
      heads.push_back({chosen.layer, head, chosen.stack});
  return heads;
}

std::optional<FlowQuestion> flow_question(const AppState& state) {
  if (state.view.view != View::flow || !state.trace) return std::nullopt;
  const bool folds = shown_fold(state, state.view.chosen.stack) != nullptr;
  return FlowQuestion{state.trace, flow_heads(state), folds ? state.folded.answer() : nullptr};
}

const LoadedModel* loaded_model(const AppState& state) {
  if (!state.document.model) return nullptr;
  for (const LoadedModel& loaded : state.loaded)
    if (loaded.model.lock() == state.document.model) return &loaded;
  return nullptr;
}

const std::vector<Finding>* findings_of_model(const AppState& state) {
  if (!state.document.model || !state.checks) return nullptr;
  for (const ModelCheck& check : *state.checks)
    if (check.model.lock() == state.document.model) return &check.findings;
  return nullptr;
}

Session session_of(const AppState& state) {
  Session session{state.document, state.view};
  if (state.kept) {
    session.kept = *state.kept;
    session.kept->trace.reset();
  }
  session.lesson = lesson_mark(state);
  return session;
}

Settings settings_to_keep(const AppState& state) {
  Settings settings = state.settings;
  settings.layout = layout_of(state.view);
  settings.lesson = lesson_mark(state);
  return settings;
}

bool has_unsaved_changes(const AppState& state) { return !(state.document == state.saved_document); }

std::size_t sentence_begin(const AppState& state, TextSide side) {
  const auto lines = sentences(text_input(state.document, side).text);
  return state.view.sentence < lines.size() ? lines[state.view.sentence].begin : 0;
}

const Tokens* shown_tokens(const AppState& state, TextSide side) {
  const Request* request = whole_request(state);
  if (!request) return nullptr;
  const bool two_sides = has_stack(*request, Stack::encoder);
  if (side == TextSide::target) return two_sides ? &query_tokens(*request, Stack::self) : nullptr;
  return &query_tokens(*request, two_sides ? Stack::encoder : Stack::self);
}

}  // namespace headlight
