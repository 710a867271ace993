// A limit of vocabularies.
#pragma once

#include <cstddef>

namespace headlight {

/// Bytes of the longest word that a model may have whose words are looked up by what a text begins with: at each place of
/// the text that takes as many steps.
inline constexpr std::size_t kLongestWord = 1024;

}  // namespace headlight
