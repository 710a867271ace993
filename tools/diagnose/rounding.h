// Differences that are rounding and no mistake.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/search.h"

namespace headlight {

/// "float16", "bfloat16": the least precise type that holds every number of `found` and not every one of `right`;
/// empty: neither does.
std::string precision_of(const Heads& right, const Heads& found);
/// Whether some numbers have more digits than 0.5 and 0.75, which any type holds.
bool have_digits(const Heads& values);

struct Rounding {
  Bilingual text;             // "numbers of float16"
  std::vector<double> after;  // of each judged array: what rounding does not explain
};

/// Of arrays that differ: numbers of a type of half precision, within what its steps may differ; queries and keys
/// rounded to TF32 before their product, or scores or weights rounded to half precision, computed; weights whose
/// logarithms differ by steps of half precision; or sums of float32 in another order, within the bound of their terms.
/// Nothing where some array differs by more.
std::optional<Rounding> rounding_of(const Known& known, const LayerArrays& found,
                                    const std::vector<JudgedArray>& judged);

}  // namespace headlight
