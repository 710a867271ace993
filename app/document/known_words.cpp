#include "document/known_words.h"

#include <algorithm>

#include "base/printable.h"

namespace headlight {
namespace {

bool begins_in_ascii(std::string_view word) { return static_cast<unsigned char>(word.front()) < 0x80; }

bool is_special(std::string_view word) { return word.size() > 2 && word.front() == '<' && word.back() == '>'; }

/// Punctuation is known to every model and tells nothing.
bool tells(std::string_view word) {
  const char first = word.front();
  const bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
  return !begins_in_ascii(word) || letter;
}

}  // namespace

KnownWords known_words(const Vocabulary& vocabulary, std::string_view like, std::size_t most) {
  KnownWords known;
  std::vector<const std::string*> alike;
  const bool ascii = like.empty() || begins_in_ascii(like);
  for (const std::string& word : vocabulary.words) {
    if (word.empty() || is_special(word)) continue;
    ++known.count;
    if (begins_in_ascii(word) == ascii && tells(word)) alike.push_back(&word);
  }
  if (known.count > kMostWholeWords) return known;
  const std::size_t count = std::min(most, alike.size());
  for (std::size_t i = 0; i < count; ++i) known.examples.push_back(*alike[i * alike.size() / count]);
  return known;
}

std::string unknown_words_line(const std::vector<Request>& requests) {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string> unknown;
  for (const Request& request : requests)
    for (const Tokens* tokens : {&request.tokens, &request.target})
      for (const Token& token : tokens->tokens)
        if (!token.known && !token.special && !token.pad &&
            std::find(unknown.begin(), unknown.end(), token.text) == unknown.end())
          unknown.push_back(token.text);
  if (unknown.empty()) return {};
  std::string line = unknown.size() == 1 ? "1 word is" : std::to_string(unknown.size()) + " words are";
  line += " unknown to the model and read as <unk>";
  for (std::size_t i = 0; i < std::min(unknown.size(), kMostNamed); ++i)
    line += (i == 0 ? ": " : ", ") + printable(unknown[i]);
  return line + (unknown.size() > kMostNamed ? ", …" : "");
}

}  // namespace headlight
