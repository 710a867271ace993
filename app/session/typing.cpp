#include "session/typing.h"

#include <algorithm>

#include "session/command.h"
#include "session/state_rules.h"

namespace headlight {
namespace {

/// The position of a word in other tokens: of the same text that which has its first letter, of another text the same
/// occurrence of the word.
std::optional<Index> same_word(const Tokens& from, const Tokens& to, Index position) {
  const Token& word = from.tokens[static_cast<std::size_t>(position)];
  const auto first = [&](const auto& is_it) -> std::optional<Index> {
    const auto found = std::ranges::find_if(to.tokens, is_it);
    return found == to.tokens.end() ? std::nullopt : std::optional<Index>(found - to.tokens.begin());
  };
  if (from.text == to.text && !word.special) {
    std::size_t at = word.begin;
    while (at + 1 < word.end && from.text[at] == ' ') ++at;
    return first([&](const Token& token) { return !token.special && token.begin <= at && at < token.end; });
  }
  const auto is_it = [&](const Token& token) { return token.text == word.text; };
  auto before = std::count_if(from.tokens.begin(), from.tokens.begin() + position, is_it);
  return first([&](const Token& token) { return is_it(token) && before-- == 0; });
}

}  // namespace

bool is_typed(CommandKind kind) { return is_one_of<SetText, SetTarget, SetTextPair, SetChat, SetIds>(kind); }

bool is_typing(const AppState& state) { return state.gesture && is_typed(state.gesture_kind); }

void rest_text(AppState& state) {
  choose_by_sentence(state);
  state.awaits_start = state.awaits_start || state.chose_start;
  ask_again(state);
}

std::optional<CellRef> same_words(const Trace& from, const Trace& to, Stack stack, const CellRef& cell) {
  if (!from.has(stack) || !to.has(stack) || cell.query >= from.queries(stack) || cell.key >= from.keys(stack))
    return std::nullopt;
  const auto query = same_word(from.query_tokens(stack), to.query_tokens(stack), cell.query);
  const auto key = same_word(from.key_tokens(stack), to.key_tokens(stack), cell.key);
  return query && key ? std::optional(CellRef{*query, *key}) : std::nullopt;
}

}  // namespace headlight
