#include "text/added_tokens.h"

#include <algorithm>
#include <cassert>

#include "text/characters.h"

namespace headlight {

Result<AddedTokens> AddedTokens::make(std::vector<AddedToken> tokens, const std::vector<Normalizer>& rules) {
  std::vector<WordTable::Word> contents, normalized_contents;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const AddedToken& token = tokens[i];
    assert(!token.content.empty());
    if (!token.normalized) {
      contents.push_back({token.content, static_cast<std::int32_t>(i)});
      continue;
    }
    Letters letters = letters_of(token.content);
    if (const Status status = normalize(rules, letters); !status) return status.error();
    normalized_contents.push_back({utf8_of(letters), static_cast<std::int32_t>(i)});
  }
  AddedTokens added;
  added.tokens_ = std::move(tokens);
  added.contents_ = WordTable(std::move(contents));
  added.normalized_contents_ = WordTable(std::move(normalized_contents));
  return added;
}

void AddedTokens::split(LetterSpan letters, bool normalized, Pieces& pieces) const {
  const WordTable& contents = normalized ? normalized_contents_ : contents_;
  if (contents.size() == 0) return pieces.add(letters);
  Spelling spelling;
  spell(letters, spelling);
  const std::string_view text = spelling.text;
  const auto letter_at = [&](std::size_t byte) {
    return byte < text.size() ? std::size_t{spelling.letter_of_byte[byte]} : letters.size();
  };
  std::size_t done = 0;  // letters that are in a piece already
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 0;
    std::int32_t which = -1;
    contents.each_prefix({}, text.substr(at), [&](std::size_t found, std::int32_t place) {
      length = found;
      which = place;
    });
    if (length == 0) {
      ++at;
      continue;
    }
    std::size_t begin = letter_at(at), end = letter_at(at + length);
    at += length;
    const AddedToken& token = tokens_[static_cast<std::size_t>(which)];
    if (token.single_word && ((begin > 0 && is_word_character(letters[begin - 1].code)) ||
                              (end < letters.size() && is_word_character(letters[end].code))))
      continue;
    if (token.strip_left) {
      while (begin > 0 && is_white_space(letters[begin - 1].code)) --begin;
      begin = std::max(begin, done);
    }
    if (token.strip_right)
      while (end < letters.size() && is_white_space(letters[end].code)) ++end;
    if (done < begin) pieces.add(letters.subspan(done, begin - done));
    pieces.add(letters.subspan(begin, end - begin), which);
    done = end;
  }
  if (done < letters.size()) pieces.add(letters.subspan(done));
}

}  // namespace headlight
