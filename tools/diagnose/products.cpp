#include "diagnose/products.h"

#include <cassert>
#include <cmath>

namespace headlight {

std::size_t group_of(std::size_t head, std::size_t heads, std::size_t groups, bool in_turn) {
  return in_turn ? head % groups : head * groups / heads;
}

Heads split_heads(const Grid& side_by_side, Index num_heads, HeadSplit how) {
  assert(num_heads > 0 && side_by_side.cols() % num_heads == 0);
  const Index rows = side_by_side.rows(), width = side_by_side.cols() / num_heads;
  if (how == HeadSplit::blocks) return reference::split_heads(side_by_side, num_heads);
  Heads heads;
  for (Index head = 0; head < num_heads; ++head) {
    if (how == HeadSplit::reshaped) {
      heads.emplace_back(Eigen::Map<const Grid>(side_by_side.data() + head * rows * width, rows, width));
      continue;
    }
    Grid part(rows, width);
    for (Index column = 0; column < width; ++column) part.col(column) = side_by_side.col(column * num_heads + head);
    heads.push_back(std::move(part));
  }
  return heads;
}

Heads dot_products(const Heads& query, const Heads& key, double scale, std::size_t count, bool in_turn) {
  Heads dot;
  for (std::size_t head = 0; head < count; ++head)
    dot.emplace_back(query[head] * key[group_of(head, query.size(), key.size(), in_turn)].transpose() * scale);
  return dot;
}

std::optional<Grid> project_with(const reference::LinearLayer& projection, const Grid& x, Slip slip) {
  const bool weighted = projection.weight.size() > 0, biased = projection.bias.size() > 0;
  if (slip == Slip::bias_left_out && !biased) return std::nullopt;
  if ((slip == Slip::transposed || slip == Slip::left_out) && !weighted) return std::nullopt;
  if (slip == Slip::transposed && projection.weight.rows() != projection.weight.cols()) return std::nullopt;
  if (slip == Slip::left_out) return projection.weight.rows() == x.cols() ? std::optional(x) : std::nullopt;
  Grid y = x;
  if (weighted && slip == Slip::transposed) y = x * projection.weight;
  else if (weighted) y = x * projection.weight.transpose();
  if (biased && slip != Slip::bias_left_out) y.rowwise() += projection.bias.row(0);
  return y;
}

bool sums_to_one(const Grid& weights, double tolerance) {
  return !((weights.rowwise().sum().array() - 1).abs() > tolerance).any();
}

double rounded(double value, int bits) {
  if (bits == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits + 1)), exponent - bits - 1);
}

Grid rounded(Grid values, int bits) {
  if (bits > 0)
    for (double& value : values.reshaped()) value = rounded(value, bits);
  return values;
}

}  // namespace headlight
