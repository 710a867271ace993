// Numbers of a page: float16; and what that rounding does to the weights.
#pragma once

#include <list>
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

/// A copy of an answer whose attention can be replaced.
struct TraceCopy {
  explicit TraceCopy(const Trace& exact);
  AttentionTrace& attention(Stack stack, Index layer);

  Trace trace;
  std::shared_ptr<StackTrace> encoder;           // trace.encoder
  std::list<std::vector<Matrix>> patterns = {};  // to which trace.attention(…).patterns may point
};

/// The answer with q, k, v and vectors of distances as a page has them (or, of these heads alone, the weights that
/// another program computed), and everything else as it is.
TraceCopy rounded(const Trace& trace, const std::vector<HeadRef>& heads);

/// The largest difference between any weight of these heads and the weight of the other answer.
float rounding_error(const Trace& exact, const Trace& other, const std::vector<HeadRef>& heads, const Threads& threads);

}  // namespace headlight
