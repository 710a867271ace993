#include "read/hub/derived_weights.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "math/position.h"

namespace headlight {

Linear part_of(const Linear& fused, Index first, Index count) {
  Linear part;
  if (fused.stored) {
    StoredMatrix rows = *fused.stored;
    rows.line = rows.step();
    rows.bytes = rows.at(first, 0);
    rows.rows = count;
    part.stored = std::make_shared<const StoredMatrix>(std::move(rows));
  } else {
    part.weight = fused.weight.middleRows(first, count);
  }
  if (fused.bias.size() > 0) part.bias = fused.bias.segment(first, count);
  return part;
}

Linear part_of_heads(const Linear& fused, Index which, Index heads, Index kv_heads) {
  const Index group = heads / kv_heads, rows = fused.weight.rows() / (kv_heads * (group + 2));
  const Index first = which == 0 ? 0 : (group + which - 1) * rows, count = (which == 0 ? group : 1) * rows;
  Linear part{.weight = Matrix(kv_heads * count, fused.weight.cols()),
              .bias = Vector(fused.bias.size() > 0 ? kv_heads * count : 0)};
  for (Index head = 0; head < kv_heads; ++head) {
    const Index from = head * (group + 2) * rows + first;
    part.weight.middleRows(head * count, count) = fused.weight.middleRows(from, count);
    if (part.bias.size() > 0) part.bias.segment(head * count, count) = fused.bias.segment(from, count);
  }
  return part;
}

namespace {

/// The m of each head.
std::vector<double> slopes(Index heads) {
  Index whole = 1;
  while (2 * whole <= heads) whole *= 2;
  std::vector<double> all;
  for (Index head = 0; head < heads; ++head) {
    const double power = head < whole ? 8.0 * static_cast<double>(head + 1) / static_cast<double>(whole)
                                      : 4.0 * static_cast<double>(2 * (head - whole) + 1) / static_cast<double>(whole);
    all.push_back(std::exp2(-power));
  }
  return all;
}

float in_bfloat16(double value) { return static_cast<float>(Eigen::bfloat16(static_cast<float>(value))); }

}  // namespace

std::shared_ptr<const RelativeBias> linear_biases(Index heads, Index distances) {
  const std::vector<double> of_heads = slopes(heads);
  Matrix table = Matrix::Zero(2 * distances, heads);  // the second half is for distances that share a row: none
  for (Index head = 0; head < heads; ++head) {
    const double slope = of_heads[static_cast<std::size_t>(head)];
    for (Index distance = 0; distance < 2 * distances; ++distance)
      table(distance, head) = static_cast<float>(-slope * static_cast<double>(std::min(distance, distances)));
  }
  return std::make_shared<const RelativeBias>(RelativeBias{std::move(table), false, 2 * distances});
}

std::shared_ptr<const RelativeBias> linear_key_biases(Index heads, Index places, double scale) {
  const std::vector<double> of_heads = slopes(heads);
  RelativeBias bias{.table = Matrix(places, heads), .of_keys = true};
  for (Index head = 0; head < heads; ++head) {
    const double slope = static_cast<double>(in_bfloat16(of_heads[static_cast<std::size_t>(head)]));
    for (Index place = 0; place < places; ++place) {
      const auto at = static_cast<double>(in_bfloat16(static_cast<double>(place)));
      bias.table(place, head) = static_cast<float>(static_cast<double>(in_bfloat16(slope * at)) * scale);
    }
  }
  return std::make_shared<const RelativeBias>(std::move(bias));
}

Matrix falling_sinusoids(Index rows, Index d, std::optional<std::int64_t> pad) {
  const Index half = d / 2;
  Matrix places = Matrix::Zero(rows, d);
  for (Index row = 0; row < rows; ++row)
    for (Index i = 0; i < half && row != pad.value_or(-1); ++i) {
      const double angle = static_cast<double>(row) * std::exp(-std::log(10000.0) * static_cast<double>(i) /
                                                               static_cast<double>(std::max<Index>(half - 1, 1)));
      places(row, i) = static_cast<float>(std::sin(angle));
      places(row, half + i) = static_cast<float>(std::cos(angle));
    }
  return places;
}

bool drop_sinusoids(Matrix& decoder, Matrix& encoder, Index rows) {
  if (decoder.size() == 0 && encoder.size() == 0) return true;
  const Matrix sinusoids = sinusoidal_positions(rows, std::max(decoder.cols(), encoder.cols()), true);
  bool differ = false;
  for (Matrix* table : {&decoder, &encoder}) {
    if (table->size() == 0) *table = sinusoids;
    differ = differ || (*table - sinusoids).cwiseAbs().maxCoeff() > 1e-6f;
  }
  if (!differ) decoder = encoder = {};
  return !differ;
}

}  // namespace headlight
