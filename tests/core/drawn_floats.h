// Flat arrays drawn at random, for the inner loops.
#pragma once

#include "base/matrix.h"
#include "base/pages.h"
#include "base/random.h"

namespace headlight {

/// Each from −limit to limit.
inline Floats drawn(Index size, std::uint64_t seed, float limit = 1) {
  Random random(seed);
  Floats values(static_cast<std::size_t>(size));
  for (float& value : values) value = random.symmetric(limit);
  return values;
}

}  // namespace headlight
