// Numbers of a page: float16; and what that rounding does to the weights.
#pragma once

#include <string>

#include "base/parallel.h"
#include "model/trace.h"

namespace headlight {

/// The nearest float16 (IEEE 754 binary16, ties to even), little-endian, two bytes a number, row after row.
void append_float16(const ConstMatrixRef& numbers, std::string& bytes);
/// The same as float32 again.
Matrix rounded_to_float16(const ConstMatrixRef& numbers);
/// The largest number that float16 holds.
inline constexpr float kLargestFloat16 = 65504;

/// The answer with q and k as a page has them (or the weights that another program computed), and everything else as it
/// is. Kept alive by what it returns.
struct RoundedTrace {
  Trace trace;
  std::vector<std::vector<Matrix>> patterns;  // that trace.attention(…).patterns point to
};
RoundedTrace rounded(const Trace& trace);

/// The largest difference between any weight of these heads and the weight from rounded numbers.
float rounding_error(const Trace& exact, const Trace& other, const std::vector<HeadRef>& heads, const Threads& threads);

}  // namespace headlight
