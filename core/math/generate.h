// A decoder writes on: token by token, each step a Request that can be answered and looked at like any other.
#pragma once

#include "base/result.h"
#include "math/output.h"

namespace headlight {

struct Sampling {
  float temperature = 0;  // 0: always the most probable word (greedy)
  std::uint64_t seed = 0;

  friend bool operator==(const Sampling&, const Sampling&) = default;
};

/// The word that follows in `trace`, drawn with the seed and the number of tokens so far: the same sentence goes on in
/// the same way however it came about. Errors: a model that cannot go on (no output layer, an encoder).
Result<Candidate> next_word(const Trace& trace, const Sampling& sampling);

/// The request with the word appended to what the decoder reads, before any padding.
Request extended(Request request, const Candidate& word);

}  // namespace headlight
