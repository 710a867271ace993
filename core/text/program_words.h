// How the program cuts text: one lexicon for every model whose tokens are whole words, and for fresh weights.
#pragma once

#include <string>
#include <vector>

#include "text/tokenizer.h"
#include "text/words.h"

namespace headlight {

/// The lexicon with more words, which a model with fresh weights does not say; those that no line of a file could be
/// are left out. Of a lexicon that has words, `likely` says where words of Chinese characters begin and end, and ICU
/// the rest; beside kana ICU says it all, whose dictionary knows Japanese.
Lexicon with_words(Lexicon lexicon, const std::vector<std::string>& more);

/// Lets a tokenizer whose tokens are whole words cut text as this lexicon does, the words of its vocabulary besides.
/// Other tokenizers stay as they are.
void cut_by(Tokenizer& tokenizer, const Lexicon& lexicon);

}  // namespace headlight
