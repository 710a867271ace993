// Rows and words that every trained model has beside those of its corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headlight {

/// The rows of every trained model's table that are no words.
inline constexpr std::int32_t kPadRow = 0, kStartRow = 1, kMaskRow = 2, kUnknownRow = 3, kFirstWordRow = 4;
inline constexpr std::string_view kSpecialWords[] = {"<pad>", "<s>", "<mask>", "<unk>"};

/// Longer sentences of a text are left out.
inline constexpr std::size_t kLongestSentence = 120;

/// The end of a translation: the last word of a corpus with translations.
inline constexpr std::string_view kEndWord = "</s>";

}  // namespace headlight
