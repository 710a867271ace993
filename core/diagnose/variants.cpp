#include "diagnose/variants.h"

#include <cassert>
#include <cmath>

namespace headlight {
namespace {

constexpr double kNoWeight = -std::numeric_limits<double>::infinity();

}  // namespace

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

Heads dot_products(const Heads& query, const Heads& key) {
  Heads dot;
  for (std::size_t head = 0; head < query.size(); ++head)
    dot.push_back(reference::dot_products(query[head], key[head * key.size() / query.size()]));
  return dot;
}

Heads attend(const Heads& dot, double scale, const Grid& mask) {
  Heads weights;
  for (const Grid& head : dot) weights.push_back(reference::softmax(head * scale + mask));
  return weights;
}

Allowed allowed_by(const Grid& mask) { return mask.array() > -1e4; }

Grid mask_of(const Allowed& allowed) {
  Grid mask(allowed.rows(), allowed.cols());
  for (Index i = 0; i < mask.size(); ++i) mask.data()[i] = allowed.data()[i] ? 0.0 : kNoWeight;
  return mask;
}

Grid softmax_rows_up_to_offsets(const Grid& logits, const Grid& found) {
  constexpr int kMostRounds = 500;
  constexpr double kSettled = 1e-12, kTooSmall = 1e-30;
  const Index rows = logits.rows(), cols = logits.cols();
  // log(found) − logits = of_row − of_column, as well as it can be: alternating means.
  Grid ratio(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      ratio(i, j) =
          std::isfinite(logits(i, j)) && found(i, j) > kTooSmall ? std::log(found(i, j)) - logits(i, j) : kFree;
  Eigen::VectorXd of_row = Eigen::VectorXd::Zero(rows), of_column = Eigen::VectorXd::Zero(cols);
  for (int round = 0; round < kMostRounds; ++round) {
    for (Index j = 0; j < cols; ++j) {
      double sum = 0, count = 0;
      for (Index i = 0; i < rows; ++i)
        if (!std::isnan(ratio(i, j))) sum += of_row(i) - ratio(i, j), ++count;
      if (count > 0) of_column(j) = sum / count;
    }
    double moved = 0;
    for (Index i = 0; i < rows; ++i) {
      double sum = 0, count = 0;
      for (Index j = 0; j < cols; ++j)
        if (!std::isnan(ratio(i, j))) sum += ratio(i, j) + of_column(j), ++count;
      if (count == 0) continue;
      moved = std::max(moved, std::abs(sum / count - of_row(i)));
      of_row(i) = sum / count;
    }
    if (moved < kSettled) break;
  }
  const Grid weights = reference::softmax((logits.colwise() + of_row).transpose()).transpose();
  Grid result = weights;
  for (Index j = 0; j < cols; ++j)
    if ((logits.col(j).array() == kNoWeight).all()) result.col(j).setConstant(kFree);
  return result;
}

std::optional<Grid> project_with(const reference::LinearLayer& projection, const Grid& x, Slip slip) {
  const bool weighted = projection.weight.size() > 0, biased = projection.bias.size() > 0;
  if (slip == Slip::bias_left_out && !biased) return std::nullopt;
  if ((slip == Slip::transposed || slip == Slip::left_out) && !weighted) return std::nullopt;
  if (slip == Slip::transposed && projection.weight.rows() != projection.weight.cols()) return std::nullopt;
  if (slip == Slip::left_out) {
    if (projection.weight.rows() != x.cols()) return std::nullopt;
    return x;
  }
  reference::LinearLayer layer = projection;
  if (slip == Slip::transposed) layer.weight.transposeInPlace();
  if (slip == Slip::bias_left_out) layer.bias.resize(0, 0);
  return reference::linear(x, layer);
}

Heads weighted_values(const Heads& weights, const Heads& values) {
  Heads z;
  for (std::size_t head = 0; head < weights.size(); ++head)
    z.push_back(reference::weighted_sums(weights[head], values[head * values.size() / weights.size()]));
  return z;
}

}  // namespace headlight
