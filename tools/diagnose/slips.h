// The usual slips as a table, a row each: an edit of how an attention is computed. Whether it was made is decided by
// computing with it (diagnose/search.h). A new slip is a new row, and its code.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/texts.h"
#include "diagnose/variant.h"

namespace headlight {

/// The arrays that differ from some step on.
inline constexpr Steps kFromWeights = bit(SlipStep::weights) | bit(SlipStep::output);
inline constexpr Steps kFromScores = bit(SlipStep::scores) | kFromWeights;
inline constexpr Steps kFromQueries = bit(SlipStep::queries) | kFromScores,
                       kFromKeys = bit(SlipStep::keys) | kFromScores;
inline constexpr Steps kFromValues = bit(SlipStep::values) | bit(SlipStep::output);

struct SlipRow {
  MistakeCode code;
  Steps touches = kFromScores;  // arrays that it can change
  unsigned part = 0;            // bits of what it edits: two slips that edit one thing are not made together
  /// Makes the slip; false where too little is known, or where it would change nothing.
  std::function<bool(const Known& known, Variant& variant)> apply = {};
  /// The same with numbers taken from what was found, given what comes out without it. The text, which names them;
  /// empty: it does not fit.
  std::function<Bilingual(const Known& known, Variant& variant, const Outcome& without, const LayerArrays& found)> fit =
      {};
  std::string role = {};  // the projection that it is about: query, key, value, output, "query and key"
  Bilingual text = {};    // with its role; of a row with `fit` without the numbers
  bool general = false;   // explains so much that all others are asked first
  bool whole = false;     // made in all heads or in none
  bool masks = false;     // changes which cells are blocked
};

/// Slips with a number that is taken from what was found, for SlipRow::fit.
Bilingual fit_factor(const Known& known, Variant& variant, const Outcome& without, const LayerArrays& found);
Bilingual fit_dropout(const Known& known, Variant& variant, const Outcome& without, const LayerArrays& found);
Bilingual fit_mask_after(const Known& known, Variant& variant, const Outcome& without, const LayerArrays& found);
Bilingual fit_weights_factor(const Known& known, Variant& variant, const Outcome& without, const LayerArrays& found);
Bilingual fit_order(const Known& known, Variant& variant, const Outcome& without, const LayerArrays& found);
Bilingual fit_blocked(const Known& known, Variant& variant, const Outcome& without, const LayerArrays& found);

/// From the particular to the general: of two that explain equally well the earlier is the simpler one.
const std::vector<SlipRow>& slips();

/// By what each slip in the scale multiplies the scores; the last one needs the number of heads.
inline constexpr std::size_t kScales = 4;
std::array<std::pair<MistakeCode, double>, kScales> scale_factors(double d_k, double heads);

}  // namespace headlight
