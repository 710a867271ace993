#include <algorithm>
#include <cmath>

#include "diagnose/slips.h"

namespace headlight {

using namespace mistakes;

namespace {

/// Calls use(known, found) for each weight or score of both that is known and not blocked.
template <class Use>
void for_each_pair(const Heads& known, const Heads& found, const Variant& variant, const Use& use) {
  for (std::size_t head = 0; head < std::min(known.size(), found.size()); ++head) {
    if (!same_shape(known[head], found[head])) return;
    const std::vector<Index>& some = variant.heads;
    if (!some.empty() && !std::count(some.begin(), some.end(), static_cast<Index>(head))) continue;
    for (Index i = 0; i < found[head].rows(); ++i)
      for (Index j = 0; j < found[head].cols(); ++j) use(head, i, j, known[head](i, j), found[head](i, j));
  }
}

Bilingual constant_text(const Known& known, double factor) {
  const Bilingual text = words(scale_constant, decimal(factor));
  if (known.d_k > 0)
    return words(phrases::scale_in_place, text, decimal(factor / std::sqrt(static_cast<double>(known.d_k))));
  const double d_k = factor * factor;
  const bool whole = factor > 1.01 && std::abs(d_k - std::round(d_k)) < 1e-2;
  return whole ? words(phrases::scale_unknown, text, decimal(std::round(d_k)), decimal(factor)) : text;
}

bool is_near_one(double factor) { return std::abs(factor - 1) <= 1e-5; }

}  // namespace

/// The factor of the scores that fits best: the slope of log(weights), or of the scores themselves, both less the mean
/// of their row. Nothing where these are all equal: of a factor near 0 neither sign nor digits are known.
Bilingual fit_factor(const Known& known, Variant& variant, const Outcome& without, const LayerArrays& found) {
  constexpr double kTooSmall = 1e-20, kNoSlope = 1e-6;
  const bool by_weights = !found[SlipStep::weights].empty();
  const Heads& seen = by_weights ? found[SlipStep::weights] : found[SlipStep::scores];
  // A bias is not multiplied.
  const bool biased = known.direct && by_weights && !allowed_by(known.mask).select(known.mask.array(), 0.0).isZero(0);
  const Heads& mine = by_weights && !biased ? without.arrays[SlipStep::weights] : without.arrays[SlipStep::scores];
  double both = 0, squares = 0, size = 0;
  std::vector<std::pair<double, double>> row;
  std::optional<std::pair<std::size_t, Index>> last;
  const auto finish = [&] {
    double mean_mine = 0, mean_seen = 0;
    const auto count = static_cast<double>(row.size());
    for (const auto& [a, b] : row) mean_mine += a / count, mean_seen += b / count;
    for (const auto& [a, b] : row)
      squares += (a - mean_mine) * (a - mean_mine), both += (a - mean_mine) * (b - mean_seen), size += b * b;
    row.clear();
  };
  for_each_pair(mine, seen, variant, [&](std::size_t head, Index i, Index j, double a, double b) {
    if (std::pair(head, i) != last) finish();
    last = {head, i};
    if (biased) {
      if (std::isfinite(a) && b > kTooSmall) row.emplace_back(a - known.mask(i, j), std::log(b) - known.mask(i, j));
      return;
    }
    if (by_weights ? a > kTooSmall && b > kTooSmall : std::isfinite(a) && b > -1e4)
      row.emplace_back(by_weights ? std::log(a) : a, by_weights ? std::log(b) : b);
  });
  finish();
  const double factor = both / squares;
  constexpr double kNoFactor = 1e-4;  // from 1
  if (std::abs(factor - 1) < kNoFactor) return {};
  if (!(std::abs(both) > kNoSlope * std::sqrt(squares * size)) || !std::isfinite(factor)) return {};
  variant.factor = factor;
  return constant_text(known, factor);
}

namespace {

/// The same zeros in every head, which form a mask.
bool zeros_are_a_mask(const Heads& weights) {
  const Allowed seen = weights[0].array() != 0;
  const MaskParts parts = parts_of(seen);
  const bool same = std::all_of(weights.begin(), weights.end(), [&](const Grid& head) {
    return same_shape(head, weights[0]) && are_same(head.array() != 0, seen);
  });
  return same && (parts.causal || parts.window > 0 || (parts.padding && are_same(seen, parts.keys)));
}

}  // namespace

/// A mask that the right side does not have, after the softmax.
Bilingual fit_mask_after(const Known& known, Variant& variant, const Outcome& without, const LayerArrays& found) {
  const bool is_mask =
      variant.heads.empty() && !found[SlipStep::weights].empty() && zeros_are_a_mask(found[SlipStep::weights]);
  if (!is_mask || fit_dropout(known, variant, without, found).en.empty() || !is_near_one(*variant.kept)) return {};
  return words(mask_after_softmax);
}

/// Weights × {0, 1 / (1 − p)}. Zeros of a single row, or of whole rows, are something else.
Bilingual fit_dropout(const Known&, Variant& variant, const Outcome& without, const LayerArrays& found) {
  double sum_found = 0, sum_known = 0;
  Index torn_rows = 0;  // in which some weights are zero and some are left
  bool zero = false, left = false;
  for_each_pair(without.arrays[SlipStep::weights], found[SlipStep::weights], variant,
                [&](std::size_t, Index, Index key, double weight, double seen) {
                  if (key == 0) zero = left = false;
                  if (!(weight > 0)) return;
                  torn_rows += seen == 0 ? left && !zero : zero && !left;
                  (seen == 0 ? zero : left) = true;
                  if (seen != 0) sum_found += seen, sum_known += weight;
                });
  const double factor = sum_found / sum_known;
  if (torn_rows < 2 || !(factor > 1 || is_near_one(factor))) return {};
  variant.kept = factor;
  return words(dropout_left_on,
               !is_near_one(factor) ? words(phrases::of_p, decimal(1 - 1 / factor)) : words(phrases::not_divided));
}

Bilingual fit_weights_factor(const Known&, Variant& variant, const Outcome& without, const LayerArrays& found) {
  double both = 0, squares = 0;
  for_each_pair(without.arrays[SlipStep::weights], found[SlipStep::weights], variant,
                [&](std::size_t, Index, Index, double weight, double seen) {
                  if (std::isfinite(weight) && std::isfinite(seen)) both += weight * seen, squares += weight * weight;
                });
  variant.weights_factor = both / squares;
  const bool changes = std::abs(variant.weights_factor - 1) > 1e-3 && std::isfinite(variant.weights_factor);
  return changes ? words(weights_scaled, decimal(variant.weights_factor)) : Bilingual();
}

Bilingual fit_order(const Known&, Variant& variant, const Outcome& without, const LayerArrays& found) {
  const Heads &mine = without.arrays[SlipStep::weights], &seen = found[SlipStep::weights];
  if (!same_shape(mine, seen) || seen.size() < 2) return {};
  std::vector<bool> taken(seen.size(), false);
  bool moved = false;
  std::string order;
  for (std::size_t head = 0; head < seen.size(); ++head) {
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t other = 0; other < seen.size(); ++other) {
      const double apart = (mine[other] - seen[head]).cwiseAbs().maxCoeff();
      if (!taken[other] && apart < least) least = apart, nearest = other;
    }
    taken[nearest] = true;
    moved = moved || nearest != head;
    variant.order.push_back(static_cast<Index>(nearest));
    order += (head > 0 ? ", " : "") + std::to_string(nearest);
  }
  return moved ? words(heads_permuted, order) : Bilingual();
}

/// The score of blocked cells: as it was found, or as the weights of a row show it.
Bilingual fit_blocked(const Known& known, Variant& variant, const Outcome& without, const LayerArrays& found) {
  if (!known.exact || !known.has_mask()) return {};
  const Heads &scores = without.arrays[SlipStep::scores], &seen = found[SlipStep::weights];
  double sum = 0, count = 0;
  if (!found[SlipStep::scores].empty())
    for_each_pair(scores, found[SlipStep::scores], variant, [&](std::size_t, Index, Index, double score, double other) {
      if (!std::isfinite(score) && std::isfinite(other)) sum += other, ++count;
    });
  else
    for_each_pair(scores, seen, variant, [&](std::size_t head, Index i, Index, double score, double weight) {
      if (std::isfinite(score) || !(weight > 1e-20)) return;
      Index open = 0;
      const double largest = scores[head].row(i).maxCoeff(&open);
      if (std::isfinite(largest) && seen[head](i, open) > 0)
        sum += std::log(weight) - std::log(seen[head](i, open)) + largest, ++count;
    });
  if (count == 0) return {};
  variant.blocked = sum / count;
  return words(blocked_scores_weak, decimal(std::abs(sum / count) < 1e-6 ? 0 : sum / count));
}

}  // namespace headlight
