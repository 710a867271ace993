// Kinds of characters, as Hugging Face's tokenizers tell them apart: Unicode's properties, in the versions of Unicode
// that those tokenizers were written with. A character that is younger belongs to no kind.
#pragma once

#include <string>

namespace headlight {

/// White_Space.
bool is_white_space(char32_t c);
/// Nd, Nl and No.
bool is_numeric(char32_t c);
/// Letters, marks, decimal digits, connectors and the two joiners: \w of UTS #18.
bool is_word_character(char32_t c);
/// ASCII's punctuation and symbols, and P as of Unicode 8.
bool is_punctuation(char32_t c);
/// Mn as of Unicode 8.
bool is_nonspacing_mark(char32_t c);
/// Mn, Mc and Me as of Unicode 9.
bool is_mark(char32_t c);
/// Cc, Cf and Co as of Unicode 8, without tab and line ends.
bool is_control(char32_t c);
/// The blocks of Chinese characters that BERT sets apart (Devlin et al. 2019, tokenization.py).
bool is_chinese_character(char32_t c);

/// The lower case of one character, whatever stands around it: İ becomes two characters, Σ always σ.
std::u32string lower_case(char32_t c);

}  // namespace headlight
