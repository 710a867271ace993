// Whether all that is asked of a grammar can be drawn from it.
#pragma once

#include "train/grammar/grammar.h"

namespace headlight {

/// Whether one draw in some hundred gives a training sentence, one a held-out one and, where a kind has pairs, one a
/// minimal pair: then draw_sentence and draw_minimal_pair come to an end. Errors say what there is too little of.
Status check_draws(std::string_view where, const Grammar& grammar);

}  // namespace headlight
