#include "math/position.h"

#include <algorithm>
#include <cmath>

namespace headlight {

Matrix sinusoidal_positions(Index tokens, Index d_model, bool halves) {
  Matrix positions(tokens, d_model);
  const Index sines = (d_model + 1) / 2;
  for (Index column = 0; column < d_model; ++column) {
    const Index pair = halves ? column % sines : column / 2;
    const bool sine = halves ? column < sines : column % 2 == 0;
    const double frequency = std::pow(10000.0, -static_cast<double>(2 * pair) / static_cast<double>(d_model));
    for (Index pos = 0; pos < tokens; ++pos) {
      const double angle = static_cast<double>(pos) * frequency;
      positions(pos, column) = static_cast<float>(sine ? std::sin(angle) : std::cos(angle));
    }
  }
  return positions;
}

float rotary_angle(const Rotary& rotary, Index position, Index pair) {
  return (rotary.places.size() > 0 ? rotary.places(position, pair) : static_cast<float>(position)) *
         rotary.frequencies(pair);
}

Matrix rotated(const ConstMatrixRef& x, const Rotary& rotary, Index heads, Index first_position) {
  Matrix y = x;
  const Index d_k = x.cols() / heads, pairs = rotary.frequencies.size();
  for (Index row = 0; row < x.rows(); ++row) {
    const Index position = first_position + row;
    for (Index pair = 0; pair < pairs; ++pair) {
      const float angle = rotary_angle(rotary, position, pair);
      const float cosine = static_cast<float>(std::cos(static_cast<double>(angle))) * rotary.factor;
      const float sine = static_cast<float>(std::sin(static_cast<double>(angle))) * rotary.factor;
      const Index first = rotary.interleaved ? 2 * pair : pair, second = rotary.interleaved ? first + 1 : pair + pairs;
      for (Index column = 0; column < x.cols(); column += d_k) {
        const float a = x(row, column + first), b = x(row, column + second);
        y(row, column + first) = a * cosine - b * sine;
        y(row, column + second) = b * cosine + a * sine;
      }
    }
  }
  return y;
}

std::vector<double> alibi_slopes(Index heads, double most) {
  Index whole = 1;
  while (2 * whole <= heads) whole *= 2;
  std::vector<double> slopes;
  for (Index head = 0; head < heads; ++head) {
    const double step = head < whole ? static_cast<double>(head + 1) : static_cast<double>(head - whole) + 0.5;
    slopes.push_back(std::exp2(-most * step / static_cast<double>(whole)));
  }
  return slopes;
}

Index relative_bucket(const RelativeBias& bias, Index offset) {
  Index buckets = bias.table.rows(), first = 0;
  Index distance = -offset;
  if (bias.bidirectional) {
    buckets /= 2;
    if (offset > 0) first = buckets;
    distance = std::abs(offset);
  }
  distance = std::max<Index>(distance, 0);
  const Index exact = buckets / 2;
  if (distance < exact) return first + distance;
  // In float32, as transformers computes it: a distance on the edge of two buckets must round to the same side.
  const float beyond =
      std::log(static_cast<float>(distance) / static_cast<float>(exact)) /
      static_cast<float>(std::log(static_cast<double>(bias.max_distance) / static_cast<double>(exact)));
  const auto further = static_cast<Index>(beyond * static_cast<float>(buckets - exact));
  return first + std::min(exact + further, buckets - 1);
}

Matrix relative_bias_rows(const RelativeBias& bias, Index head, Index first, Index count, Index keys) {
  if (bias.of_keys) return bias.table.col(head).head(keys).transpose().replicate(count, 1);
  if (bias.of_pairs) {
    const auto tokens = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(bias.table.rows()))));
    Matrix added(count, keys);
    for (Index r = 0; r < count; ++r)
      added.row(r) = bias.table.col(head).segment((first + r) * tokens, keys).transpose();
    return added;
  }
  // The bias of each offset, from the first key of the last row to the last key of the first; a row is a segment of it.
  Vector by_offset(count + keys - 1);
  for (Index i = 0; i < by_offset.size(); ++i)
    by_offset(i) = bias.table(relative_bucket(bias, i - (first + count - 1)), head);
  Matrix added(count, keys);
  for (Index r = 0; r < count; ++r) added.row(r) = by_offset.segment(count - 1 - r, keys);
  return added;
}

}  // namespace headlight
