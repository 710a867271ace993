// Generation: a decoder appends one token after another; each step is a Request like any other.
#pragma once

#include "base/result.h"
#include "math/output.h"

namespace headlight {

struct Sampling {
  float temperature = 0;  // 0: always the most probable word (greedy)
  std::uint64_t seed = 0;

  friend bool operator==(const Sampling&, const Sampling&) = default;
};

/// The next word after `trace`, drawn with the seed and the number of tokens so far: the same tokens are continued in
/// the same way, whether typed or generated. Errors: a model that cannot generate (no output layer, an encoder).
Result<Candidate> next_word(const Trace& trace, const Sampling& sampling);

/// The request with the word appended to what the decoder reads, before any padding.
Request extended(Request request, const Candidate& word);

}  // namespace headlight
