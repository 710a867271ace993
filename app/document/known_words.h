// Examples of a vocabulary's words, for the hint beside an unknown word.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/request.h"
#include "model/weights.h"

namespace headlight {

struct KnownWords {
  std::size_t count = 0;                   // words of the vocabulary that are no special tokens
  std::vector<std::string> examples = {};  // some of them, in the vocabulary's order
};

/// The largest vocabulary of which examples say anything: larger ones hold pieces of words.
inline constexpr std::size_t kMostWholeWords = 5000;

/// How many words there are, and at most `most` of them that are written as `like` is: in letters of ASCII or not.
/// They are taken evenly from the whole vocabulary, so that the same model always names the same. Of a vocabulary
/// larger than kMostWholeWords there are no examples.
KnownWords known_words(const Vocabulary& vocabulary, std::string_view like, std::size_t most);

/// "2 words are unknown to the model and read as <unk>: 小猫, 饿坏了", each word once, at most five of them; empty where
/// every word of the requests is known.
std::string unknown_words_line(const std::vector<Request>& requests);

}  // namespace headlight
