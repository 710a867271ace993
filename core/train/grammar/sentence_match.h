// Whether a sentence could have been written by the grammar, and which of its words then belong together.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "train/grammar/grammar.h"

namespace headlight {

/// A pattern that a sentence fits: each of its words stands in the place of the pattern where its family may stand.
struct SentenceMatch {
  int kind = 0, pattern = 0;
  /// The relations of the pattern, as places in the sentence. Which of two nouns a pronoun stands for is decided by
  /// what fits the words' classes, which is not asked here: the first pattern of those that fit says it.
  std::vector<Gold> gold = {};
};

/// The first pattern that the words fit; a full stop at the end may be missing. Nothing for a sentence that no pattern
/// fits, and for more than kLongestMatched words.
std::optional<SentenceMatch> match_sentence(const Grammar& grammar, const std::vector<std::string_view>& words);
inline constexpr std::size_t kLongestMatched = 64;

/// Whether a sentence of the grammar has this word as a pronoun.
bool stands_for_a_noun(const Grammar& grammar, std::string_view word);

}  // namespace headlight
