// Whether a sentence could have been written by the grammar, and which of its words then belong together.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "train/grammar/grammar.h"

namespace headlight {

/// The sentence as the first pattern that the words fit would have written it, each by its family, of several patterns
/// one whose classes they fit too; its words, items and relations alone are given. A full stop at the end and *too* may
/// be missing (heads find what a pronoun stands for as often without it: tests/app/sentence_facts_test). There is no
/// relation of a pronoun where no class has the words that the pattern draws from one class: which noun it stands for
/// is unknown. Nothing for a sentence that no pattern fits, and for more than kLongestMatched words.
std::optional<Sentence> match_sentence(const Grammar& grammar, const std::vector<std::string_view>& words);
inline constexpr std::size_t kLongestMatched = 64;

/// Whether a sentence of the grammar has this word as a pronoun.
bool stands_for_a_noun(const Grammar& grammar, std::string_view word);

}  // namespace headlight
