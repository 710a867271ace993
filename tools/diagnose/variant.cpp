#include "diagnose/variant.h"

#include <algorithm>
#include <cmath>

namespace headlight {
namespace {

constexpr double kNoScore = -std::numeric_limits<double>::infinity();

bool is_blocked(double logit) { return logit == kNoScore; }

/// Where a whole column is blocked there is nothing to divide by, and implementations differ: it is open.
Grid softmax_of_columns(const Grid& logits) {
  Grid weights = reference::softmax(logits.transpose()).transpose();
  for (Index j = 0; j < logits.cols(); ++j)
    if (logits.col(j).maxCoeff() == kNoScore) weights.col(j).setConstant(kOpenCell);
  return weights;
}

/// softmax over the rows of exp(logits + r), where the numbers r, one a row, are those that lead to `found` best: the
/// logits of a row are known up to such a number when only its softmax is.
Grid softmax_of_columns_up_to_rows(const Grid& logits, const Grid& found, Outcome& outcome) {
  constexpr int kMostRounds = 500;
  constexpr double kSettled = 1e-12, kTooSmall = 1e-30;
  const Index rows = logits.rows(), cols = logits.cols();
  // log(found) − logits = of_row − of_column, as well as it can be: alternating means.
  Grid ratio(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      ratio(i, j) =
          std::isfinite(logits(i, j)) && found(i, j) > kTooSmall ? std::log(found(i, j)) - logits(i, j) : kOpenCell;
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
    outcome.cells += static_cast<double>(logits.size());
    if (moved < kSettled) break;
  }
  return softmax_of_columns(logits.colwise() + of_row);
}

/// The usual results for a row that may attend to nothing: NaN, zeros, or, where a mask is a large number, equal
/// weights.
bool is_of_blocked_row(const Grid& row) {
  const double equal = 1 / static_cast<double>(row.cols());
  return row.array().isNaN().all() || row.isZero(0) || ((row.array() - equal).abs() < 1e-6).all();
}

/// A computation of weights.
struct Computation {
  const Known& known;
  const Variant& variant;
  const LayerArrays& found;
  Outcome& outcome;
  const Grid& mask = variant.mask ? *variant.mask : known.mask;
  Allowed allowed = allowed_by(mask);
  const Heads& found_weights = found[SlipStep::weights];

  bool has_slips(std::size_t head) const {
    const auto& heads = variant.heads;
    return heads.empty() || std::find(heads.begin(), heads.end(), static_cast<Index>(head)) != heads.end();
  }

  bool is_plain_product() const {
    const bool projected = variant.projection[kQuery] != Slip::none || variant.projection[kKey] != Slip::none ||
                           variant.projected_by[kQuery] != kQuery || variant.projected_by[kKey] != kKey;
    return !projected && variant.split[kQuery] == HeadSplit::blocks && variant.split[kKey] == HeadSplit::blocks &&
           !variant.groups_in_blocks && variant.bits == 0;
  }

  /// The queries, keys or values after projection, heads side by side; nothing where they cannot be.
  std::optional<Grid> side(std::size_t role) const {
    const Slip slip = variant.projection[role];
    const std::size_t by = variant.projected_by[role];
    if (slip == Slip::none && by == role && variant.bits == 0) return known.projected[role];
    const auto [at, fresh] = known.cache->try_emplace({role, by, slip, variant.bits});
    if (fresh) at->second = projected(role, by, slip);
    return at->second;
  }
  std::optional<Grid> projected(std::size_t role, std::size_t by, Slip slip) const {
    if (!known.inputs)
      return variant.bits > 0 ? std::optional(rounded(known.projected[role], variant.bits)) : std::nullopt;
    reference::LinearLayer layer = known.inputs->projections[by];
    layer.weight = rounded(layer.weight, variant.bits);
    const Grid x = rounded(known.inputs->sides[role], variant.bits);
    if (layer.weight.size() > 0 && slip != Slip::transposed && layer.weight.cols() != x.cols()) return std::nullopt;
    auto rows = project_with(layer, x, slip);
    if (!rows || rows->cols() != known.projected[role].cols()) return std::nullopt;
    return rounded(std::move(*rows), variant.bits);
  }

  /// Scores before soft cap and mask.
  std::optional<Heads> logits(std::size_t count) {
    Heads result;
    if (is_plain_product()) {
      result.assign(known.logits.begin(), known.logits.begin() + static_cast<std::ptrdiff_t>(count));
    } else {
      const auto query = side(kQuery), key = side(kKey);
      if (!known.direct || !query || !key) return std::nullopt;
      Heads queries = split_heads(*query, known.num_heads, variant.split[kQuery]);
      const Heads keys = split_heads(*key, known.num_kv_heads, variant.split[kKey]);
      outcome.arrays[SlipStep::queries] = queries;
      outcome.arrays[SlipStep::keys] = keys;
      if (variant.groups_in_blocks) outcome.arrays[SlipStep::keys].clear();
      result = dot_products(queries, keys, known.scale, count, variant.groups_in_blocks);
    }
    for (Grid& head : result) {
      if (variant.swapped) head.transposeInPlace();
      head *= variant.factor;
      if (known.softcap > 0 && !variant.no_softcap) head = known.softcap * (head / known.softcap).array().tanh();
    }
    return result;
  }

  /// Under the mask. Without queries and keys a bias is part of the logits already.
  Grid masked(const Grid& logits) const {
    Grid scores = rounded(logits, variant.score_bits);
    for (Index i = 0; i < scores.rows(); ++i)
      for (Index j = 0; j < scores.cols(); ++j) {
        double& score = scores(i, j);
        if (variant.use == MaskUse::as_numbers) score += allowed(i, j) ? 1 : 0;
        else if (allowed(i, j)) score += known.direct ? mask(i, j) : 0;
        else if (variant.use == MaskUse::before) score = variant.blocked.value_or(kNoScore);
      }
    return rounded(std::move(scores), variant.score_bits);
  }

  double sink(std::size_t head) const { return known.sinks.empty() || variant.no_sinks ? kNoScore : known.sinks[head]; }

  /// softmax of each row. Where some scores are not known, the sum of the others is that of `found`; false where that
  /// is not there, or too few of the cells that are not known have a weight.
  bool over_keys(const Grid& scores, std::size_t head, Grid& weights) {
    if (!scores.hasNaN()) {
      weights = reference::softmax(scores, sink(head));
      return true;
    }
    if (found_weights.empty() && known.exact) {
      weights = Grid::Constant(scores.rows(), scores.cols(), kOpenCell);
      return true;
    }
    if (found_weights.size() <= head || found_weights[head].rows() != scores.rows() ||
        found_weights[head].cols() != scores.cols())
      return false;
    const Grid& seen = found_weights[head];
    weights = Grid::Zero(scores.rows(), scores.cols());
    Index shown = 0, with_weight = 0;
    for (Index i = 0; i < scores.rows(); ++i) {
      double largest = kNoScore, sum = 0, mass = 0;
      bool whole = true;
      for (Index j = 0; j < scores.cols(); ++j) {
        if (std::isnan(scores(i, j))) whole = false, ++shown, with_weight += seen(i, j) > 0 ? 1 : 0;
        else largest = std::max(largest, scores(i, j));
      }
      for (Index j = 0; j < scores.cols(); ++j)
        if (!std::isnan(scores(i, j)) && !is_blocked(scores(i, j)))
          sum += weights(i, j) = std::exp(scores(i, j) - largest), mass += seen(i, j);
      if (whole) mass = 1;
      else if (!(mass <= 1 + 1e-4) || (sum > 0 && mass == 0)) return false;
      else ++outcome.fitted;
      for (Index j = 0; j < scores.cols(); ++j) {
        if (std::isnan(scores(i, j))) weights(i, j) = kOpenCell;
        else if (sum > 0) weights(i, j) *= mass / sum;
      }
    }
    return variant.use == MaskUse::after || with_weight * 4 >= shown * 3;
  }

  /// Blocked scores are 0, and the others known up to a number a row: two numbers of each row are taken.
  bool zero_up_to_rows(std::size_t head, Grid& weights) {
    if (!same_shape(found_weights, known.logits) || *variant.blocked != 0) return false;
    const Grid& seen = found_weights[head];
    weights = reference::softmax(masked_hidden(known.logits[head] * variant.factor));
    bool telling = false;  // one blocked cell in a row may hold anything
    for (Index i = 0; i < weights.rows(); ++i) {
      double mass = 0, blocked = 0, hidden = 0;
      for (Index j = 0; j < weights.cols(); ++j)
        if (allowed(i, j)) mass += seen(i, j);
        else ++blocked, hidden += seen(i, j);
      telling = telling || (blocked > 1 && blocked < static_cast<double>(weights.cols()) && hidden > 0);
      for (Index j = 0; j < weights.cols(); ++j)
        weights(i, j) = allowed(i, j) ? weights(i, j) * mass : hidden / blocked;
    }
    outcome.fitted += 2 * weights.rows();
    return telling;
  }
  Grid masked_hidden(Grid logits) const {
    for (Index i = 0; i < logits.size(); ++i)
      if (!allowed.data()[i]) logits.data()[i] = kNoScore;
    return logits;
  }

  /// Scores instead of weights.
  void scores_alone(const Grid& scores, std::size_t head, Grid& weights) {
    weights = scores;
    for (Index i = 0; i < scores.rows(); ++i) {
      double sum = 0, count = 0;
      for (Index j = 0; !known.exact && j < scores.cols(); ++j)
        if (std::isfinite(scores(i, j)) && std::isfinite(found_weights[head](i, j)))
          sum += found_weights[head](i, j) - scores(i, j), ++count;
      const double offset = known.exact || count == 0 ? 0 : sum / count;
      for (Index j = 0; j < scores.cols(); ++j)
        weights(i, j) = std::isfinite(scores(i, j)) ? scores(i, j) + offset : kOpenCell;
    }
    if (!known.exact) outcome.fitted += scores.rows();
  }

  bool over_heads(const Heads& scores, Heads& weights) {
    if (!known.exact && !same_shape(found_weights, known.logits)) return false;
    weights = scores;
    const auto heads = static_cast<Index>(scores.size());
    for (Index i = 0; i < known.queries(); ++i) {
      Grid logits(heads, known.keys()), seen(heads, known.keys());
      for (Index head = 0; head < heads; ++head) {
        logits.row(head) = scores[static_cast<std::size_t>(head)].row(i);
        if (!known.exact) seen.row(head) = found_weights[static_cast<std::size_t>(head)].row(i);
      }
      if (logits.hasNaN()) return false;
      const Grid one = known.exact ? softmax_of_columns(logits) : softmax_of_columns_up_to_rows(logits, seen, outcome);
      for (Index head = 0; head < heads; ++head) weights[static_cast<std::size_t>(head)].row(i) = one.row(head);
    }
    if (!known.exact) outcome.fitted += heads * known.queries();
    return true;
  }

  bool normalised(const Grid& scores, std::size_t head, Grid& weights) {
    const SoftmaxKind kind = variant.softmax;
    const bool takes =
        !known.exact && kind != SoftmaxKind::keys && kind != SoftmaxKind::twice && kind != SoftmaxKind::logarithm;
    if (takes && !same_shape(found_weights, known.logits)) return false;
    if (!known.exact && (variant.blocked || kind == SoftmaxKind::sigmoid))
      return variant.blocked && kind == SoftmaxKind::keys && !variant.swapped && zero_up_to_rows(head, weights);
    if (!known.exact && variant.swapped) {
      if (kind != SoftmaxKind::keys || known.has_mask() || !same_shape(found_weights, known.logits)) return false;
      weights = softmax_of_columns_up_to_rows(scores.transpose(), found_weights[head].transpose(), outcome).transpose();
      outcome.fitted += scores.rows();
      return true;
    }
    if (kind == SoftmaxKind::none) scores_alone(scores, head, weights);
    else if (kind == SoftmaxKind::sigmoid) weights = 1 / (1 + (-scores.array()).exp());
    else if (kind == SoftmaxKind::queries) {
      if (scores.hasNaN()) return false;
      weights = known.exact ? softmax_of_columns(scores)
                            : softmax_of_columns_up_to_rows(scores, found_weights[head], outcome);
      if (!known.exact) outcome.fitted += scores.rows();
    } else {
      if (!over_keys(scores, head, weights)) return false;
      if (kind == SoftmaxKind::twice) weights = reference::softmax(weights);
      if (kind == SoftmaxKind::logarithm)
        weights = weights.unaryExpr([](double weight) { return weight > 0 ? std::log(weight) : kOpenCell; });
    }
    return true;
  }

  /// What happens after the softmax.
  void finish(Grid& weights, std::size_t head) {
    const bool seen = found_weights.size() > head && same_shape(found_weights[head], weights);
    for (Index i = 0; i < weights.rows(); ++i) {
      const bool empty = !allowed.row(i).any();
      for (Index j = 0; variant.use == MaskUse::after && j < weights.cols(); ++j)
        if (!allowed(i, j)) weights(i, j) = 0;
      if (empty && variant.even_rows) weights.row(i).setConstant(1 / static_cast<double>(weights.cols()));
      if (empty && variant.mask && (!seen || is_of_blocked_row(found_weights[head].row(i))))
        weights.row(i).setConstant(kOpenCell);
    }
    weights = rounded(weights * variant.weights_factor, variant.weight_bits);
  }

  void mix_heads(Heads& weights) {
    if (variant.averaged) {
      Grid mean = Grid::Zero(known.queries(), known.keys());
      for (const Grid& head : weights) mean += head / static_cast<double>(weights.size());
      weights.assign(found_weights.size() == 1 ? 1 : weights.size(), mean);
    }
    if (!variant.order.empty()) {
      const Heads before = weights;
      for (std::size_t head = 0; head < weights.size(); ++head)
        weights[head] = before[static_cast<std::size_t>(variant.order[head])];
    }
    for (std::size_t head = 0; variant.kept && head < weights.size(); ++head) {
      if (!has_slips(head)) continue;
      outcome.fitted += 1 + (found_weights[head].array() == 0 && weights[head].array() > 0).count();
      weights[head] = (found_weights[head].array() != 0).select(weights[head].array() * *variant.kept, 0.0).matrix();
    }
  }

  bool run(std::size_t most_heads) {
    const std::size_t all = known.logits.size();
    const bool together = variant.softmax == SoftmaxKind::heads || variant.averaged || !variant.order.empty();
    const std::size_t count = together ? all : std::min(all, most_heads);
    const double products = is_plain_product() ? 0 : static_cast<double>(known.d_k) / 4;
    outcome.cells += static_cast<double>(count) * static_cast<double>(mask.size()) * (1 + products);
    auto scores = logits(count);
    if (!scores) return false;
    for (Grid& head : *scores) head = masked(head);
    Heads weights(count);
    if (variant.softmax == SoftmaxKind::heads) {
      if (!over_heads(*scores, weights)) return false;
    } else {
      for (std::size_t head = 0; head < count; ++head) {
        if (!has_slips(head)) weights[head] = known.right[SlipStep::weights][head];
        else if (!normalised((*scores)[head], head, weights[head])) return false;
      }
    }
    for (std::size_t head = 0; head < count; ++head)
      if (has_slips(head)) finish(weights[head], head);
    if (variant.kept && !same_shape(found_weights, known.logits)) return false;
    mix_heads(weights);
    outcome.arrays[SlipStep::weights] = std::move(weights);
    if (known.exact) outcome.arrays[SlipStep::scores] = std::move(*scores);
    if (variant.stored_query != 1)
      outcome.arrays[SlipStep::queries] =
          split_heads(known.projected[kQuery] * variant.stored_query, known.num_heads, HeadSplit::blocks);
    keep_heads();
    return true;
  }

  /// Heads without the slips are as they are right.
  void keep_heads() {
    for (const SlipStep step : {SlipStep::queries, SlipStep::scores, SlipStep::weights}) {
      Heads& heads = outcome.arrays[step];
      const Heads& right = known.right[step];
      for (std::size_t head = 0; head < heads.size(); ++head)
        if (!has_slips(head)) {
          if (right.size() > head) heads[head] = right[head];
          else if (step != SlipStep::weights) heads[head].setConstant(kOpenCell);
        }
    }
  }
};

Grid merged(const Heads& z, HeadSplit how) {
  if (how == HeadSplit::blocks) return reference::concatenated(z);
  const Index rows = z[0].rows(), cols = z[0].cols(), heads = static_cast<Index>(z.size());
  Grid all(rows, cols * heads);
  for (Index head = 0; head < heads; ++head) {
    const Grid& one = z[static_cast<std::size_t>(head)];
    if (how == HeadSplit::reshaped) std::copy_n(one.data(), one.size(), all.data() + head * one.size());
    else
      for (Index column = 0; column < cols; ++column) all.col(column * heads + head) = one.col(column);
  }
  return all;
}

}  // namespace

bool compute_weights(const Known& known, const Variant& variant, const LayerArrays& found, Outcome& outcome,
                     std::size_t most_heads) {
  return Computation{.known = known, .variant = variant, .found = found, .outcome = outcome}.run(most_heads);
}

void compute_output(const Known& known, const Variant& variant, Outcome& outcome) {
  if (!known.has_values()) return;
  const Computation computation{.known = known, .variant = variant, .found = outcome.arrays, .outcome = outcome};
  const auto side = computation.side(kValue);
  if (!side) return;
  Heads values = split_heads(*side, known.num_kv_heads, variant.split[kValue]);
  const Heads& weights = outcome.arrays[SlipStep::weights];
  for (std::size_t head = 0; values.size() == weights.size() && head < values.size(); ++head)
    if (!computation.has_slips(head))
      values[head] =
          known.projected[kValue].middleCols(static_cast<Index>(head) * values[head].cols(), values[head].cols());
  if (known.inputs && static_cast<Index>(weights.size()) == known.num_heads &&
      (!variant.transposed || known.is_square())) {
    Heads z;
    outcome.cells += static_cast<double>(known.queries() * known.keys() * known.num_heads * known.d_k) / 4;
    for (std::size_t head = 0; head < weights.size(); ++head) {
      const std::size_t shared = group_of(head, weights.size(), values.size(), variant.groups_in_blocks);
      const Grid used = rounded(variant.transposed ? Grid(weights[head].transpose()) : weights[head], variant.bits);
      Grid met = values[static_cast<std::size_t>(
          at_place(static_cast<Index>(shared), static_cast<Index>(values.size()), variant.value_heads))];
      if (variant.values != Order::own) {
        const Grid own = met;
        for (Index i = 0; i < own.rows(); ++i) met.row(i) = own.row(at_place(i, own.rows(), variant.values));
      }
      z.emplace_back(used * met);
    }
    reference::LinearLayer layer = known.inputs->projections[kOut];
    layer.weight = rounded(layer.weight, variant.bits);
    if (auto output = project_with(layer, rounded(merged(z, variant.merge), variant.bits), variant.projection[kOut]))
      outcome.arrays[SlipStep::output] = {std::move(*output)};
  }
  outcome.arrays[SlipStep::values] = std::move(values);
}

}  // namespace headlight
