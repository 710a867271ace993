#include "math/position.h"

#include <cmath>

namespace headlight {

Matrix sinusoidal_positions(Index tokens, Index d_model) {
  Matrix positions(tokens, d_model);
  for (Index column = 0; column < d_model; ++column) {
    const double frequency = std::pow(10000.0, -static_cast<double>(column / 2 * 2) / static_cast<double>(d_model));
    for (Index pos = 0; pos < tokens; ++pos) {
      const double angle = static_cast<double>(pos) * frequency;
      positions(pos, column) = static_cast<float>(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return positions;
}

}  // namespace headlight
