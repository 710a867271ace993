#include "session/answer_state.h"

#include <algorithm>

#include "math/embedding.h"
#include "session/shown.h"

namespace headlight {
namespace {

const Tokens& tokens_of(const Request& request, TextSide side) {
  return side == TextSide::target ? request.target : request.tokens;
}

std::optional<TooLong> too_long_of(const Request& request) {
  if (!request.model) return std::nullopt;
  const Model& model = *request.model;
  const auto is_longer = [&](const StackWeights& stack, TextSide side) -> std::optional<TooLong> {
    const auto most = most_tokens(model, stack);
    if (!most || static_cast<Index>(tokens_of(request, side).size()) <= *most) return std::nullopt;
    return TooLong{side, *most};
  };
  if (!model.encoder) return is_longer(model, TextSide::source);
  const auto source = is_longer(*model.encoder, TextSide::source);
  return source ? source : is_longer(model, TextSide::target);
}

/// The bytes of the only line of a text that are read where so many tokens are too many; 0: none.
std::size_t bytes_without(const Tokens& tokens, std::size_t excess) {
  std::vector<std::size_t> typed;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (!tokens.tokens[i].special && !tokens.tokens[i].pad) typed.push_back(i);
  if (typed.size() <= excess) return 0;
  std::size_t first = typed.size() - excess;  // that is left out
  const auto token = [&](std::size_t at) -> const Token& { return tokens.tokens[typed[at]]; };
  std::size_t word = first;
  while (word > 0 && token(word).continues) --word;
  if (word > 0) first = word;
  return token(first - 1).end;
}

}  // namespace

std::optional<TooLong> too_long(const AppState& state) {
  const Request* request = wanted(state);
  if (!request || !state.trace.error_of(*request)) return std::nullopt;
  if (state.requests.size() != 1 || reads_chat(state.document) ||
      (takes_pairs(state.document) && !state.document.text_pair.empty()))
    return std::nullopt;
  return too_long_of(*request);
}

std::optional<Command> read_first_tokens(const AppState& state) {
  const auto found = too_long(state);
  if (!found) return std::nullopt;
  const TooLong longer = *found;
  const Request& request = state.requests.front();
  const TextSide side = longer.side;
  const auto excess_of = [&](const Tokens& tokens) {
    return static_cast<std::size_t>(std::max<Index>(0, static_cast<Index>(tokens.size()) - longer.most));
  };
  if (reads_ids(state.document, side)) {
    auto ids = text_input(state.document, side).ids;
    ids.resize(ids.size() - std::min(ids.size(), excess_of(tokens_of(request, side))));
    return Command(SetIds{std::move(ids), side});
  }
  // A word that was cut off may have been one token with what stood before it: the rest is cut again.
  Document document = state.document;
  Tokens tokens = tokens_of(request, side);
  while (excess_of(tokens) > 0) {
    TextInput& input = text_input(document, side);
    const std::vector<Line> lines = sentences(input.text);
    const std::size_t bytes = bytes_without(tokens, excess_of(tokens));
    if (lines.size() != 1 || bytes == 0 || bytes >= lines.front().end - lines.front().begin) return std::nullopt;
    set_text(input, input.text.substr(0, lines.front().begin + bytes), *state.lexicon);
    const auto requests = requests_of(document, *state.lexicon);
    if (!requests || requests->size() != 1) return std::nullopt;
    tokens = tokens_of(requests->front(), side);
  }
  std::string text = text_input(document, side).text;
  return side == TextSide::target ? Command(SetTarget{std::move(text)}) : Command(SetText{std::move(text)});
}

AnswerState answer_state(const AppState& state) {
  using enum AnswerState::Kind;
  if (const auto& failure = state.open_failure) return {cannot_open, failure->path, failure->error, failure->details};
  if (nothing_asked(state)) return {empty};
  const Error* problem = problem_of(state);
  // A fresh model has no path or name, so its maps cannot be under a wrong one.
  const bool of_another =
      state.trace && !state.document.model_path.empty() && state.trace->request.model != state.document.model;
  if (problem && (!state.trace || of_another))
    return {cannot_ask, state.document.model_path, *problem, state.shows_problem};
  return {state.trace ? shown : computing};
}

bool has_one_word(const AppState& state) {
  if (!state.trace || is_stale(state) || has_own_inputs(state.document)) return false;
  const Stack stack = state.view.chosen.stack;
  if (const FoldedStack* folded = shown_fold(state, stack))
    return folded->fold.queries.groups.size() == 1 && folded->fold.keys.groups.size() == 1;
  return state.trace->queries(stack) == 1 && state.trace->keys(stack) == 1;
}

}  // namespace headlight
