// Numbers that were typed, or pasted from a page, judged as those of two files are.
#pragma once

#include "diagnose/texts.h"
#include "read/external/own_numbers.h"

namespace headlight {

/// What cannot be right about the numbers, none where all is well: a mask of the scores that only a mistake gives;
/// weights that do not sum to 1; scores that are not those of x and one head; weights that are not the softmax of the
/// scores, given or of x. A mistake is named where it alone explains all numbers, else each row that is wrong, with the
/// column that is most so. Differences that the printed decimals of both sides leave open are none.
std::vector<Mistake> check_numbers(const OwnNumbers& numbers);

}  // namespace headlight
