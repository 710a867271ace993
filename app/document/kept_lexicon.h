// The program's lexicon, read once.
#pragma once

#include "text/words.h"

namespace headlight {

/// The lexicon of read_lexicon() (document/assets.h); null where it cannot be read.
const Lexicon* kept_lexicon();

}  // namespace headlight
