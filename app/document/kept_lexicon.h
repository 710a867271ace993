// The program's lexicon, read once.
#pragma once

#include "text/words.h"

namespace headlight {

/// What read_lexicon() gives (document/assets.h); null where it cannot be read.
const Lexicon* kept_lexicon();

}  // namespace headlight
