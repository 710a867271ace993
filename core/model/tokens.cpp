#include "model/tokens.h"

#include <algorithm>

#include "base/random.h"

namespace headlight {

std::int64_t hashed_id(std::string_view token_text) {
  return static_cast<std::int64_t>(hash_text(token_text) & 0x7FFFFFFFu);
}

Tokens padded(Tokens tokens, std::size_t size) {
  const std::size_t end = tokens.text.size();
  while (tokens.size() < size) {
    tokens.tokens.push_back({.id = 0,
                             .text = "<pad>",
                             .raw = "<pad>",
                             .begin = end,
                             .end = end,
                             .special = true,
                             .pad = true,
                             .known = true});
  }
  return tokens;
}

std::size_t second_sentence(const Tokens& tokens) {
  if (tokens.second > 0) return tokens.second < tokens.size() ? tokens.second : 0;
  const auto begin =
      std::find_if(tokens.tokens.begin(), tokens.tokens.end(), [](const Token& one) { return one.type == 1; });
  return begin == tokens.tokens.end() ? 0 : static_cast<std::size_t>(begin - tokens.tokens.begin());
}

Tokens with_padding_marked(Tokens tokens, std::size_t count) {
  const std::size_t size = tokens.size();
  for (std::size_t i = size - std::min(count, size); i < size; ++i) tokens.tokens[i].pad = true;
  return tokens;
}

}  // namespace headlight
