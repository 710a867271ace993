// Slips with a number that is taken from what was found: each puts it into the variant and gives the words of the slip,
// or nothing where it does not fit. `without`: what comes out without the slip.
#pragma once

#include "diagnose/texts.h"
#include "diagnose/variant.h"

namespace headlight {

Bilingual fit_factor(const Known& known, Variant& variant, const Outcome& without, const LayerArrays& found);
Bilingual fit_dropout(const Known& known, Variant& variant, const Outcome& without, const LayerArrays& found);
Bilingual fit_weights_factor(const Known& known, Variant& variant, const Outcome& without, const LayerArrays& found);
Bilingual fit_order(const Known& known, Variant& variant, const Outcome& without, const LayerArrays& found);
Bilingual fit_blocked(const Known& known, Variant& variant, const Outcome& without, const LayerArrays& found);

}  // namespace headlight
