// What `why` and `lens` print alike: terms by their size, and arrays for NumPy.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "explain/writers.h"
#include "write/arrays.h"

namespace headlight {

struct NamedTerm {
  std::string name;
  double value = 0;
};

/// The largest `most` terms by |value|, one a line, and under them the sum of the others, or, where they have
/// no sum, their number.
std::string largest_terms(std::vector<NamedTerm> terms, Index most, bool summed = true);

/// Appends a number, rounded to float32, as JSON and CSV have it.
void append_value(std::string& text, double value);

/// An array of these numbers in C order.
ArrayStream array_of(std::string name, std::vector<Index> shape, std::vector<float> numbers);

/// (writers, 4): kind (0 embedding, 1 position, 2 type, 3 input, 4 head, 5 feed-forward, 6 bias, 7 relative, 8 mask), stack
/// (0 self, 1 encoder, 2 cross), layer, head.
ArrayStream array_of_writers(std::string name, const std::vector<Writer>& writers);

/// Writes the arrays of each sentence to standard output as .npz, their names numbered `0.`, `1.` where there are several.
Result<int> print_npz(std::vector<std::vector<ArrayStream>> sentences);

}  // namespace headlight
