// A term of the entropy of a distribution, in nats.
#pragma once

#include <cmath>

namespace headlight {

/// −p ln p; 0 for p = 0, its limit.
inline double entropy_term(double p) { return p > 0 ? -p * std::log(p) : 0; }

}  // namespace headlight
