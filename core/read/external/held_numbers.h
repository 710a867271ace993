// Checks on given weights: the axis over which they sum to 1; integers of 16 bits that are the bits of floats.
#pragma once

#include <optional>
#include <string>

#include "read/array/array.h"

namespace headlight {

/// Where the weights do not sum to 1 over the axis of keys, and do over another: a line that says which.
std::string axis_of_keys(const Array& array, std::size_t keys);

/// The numbers whose bits whole numbers of 16 bits are (of bfloat16 or float16, which NumPy and others store so): those
/// of which every row sums to 1. None: they are numbers.
std::optional<Array> numbers_of_bits(const Array& array);

}  // namespace headlight
