#include "diagnose/rounding.h"

#include <algorithm>
#include <cmath>

#include "diagnose/file_comparison.h"

namespace headlight {
namespace {

constexpr int kFloat16Bits = 10, kBfloat16Bits = 7, kTf32Bits = 10;
constexpr double kSmallestFloat16 = 0x1p-24, kLargestFloat16 = 65504;

int bits_of(std::string_view type) { return type == "float16" ? kFloat16Bits : kBfloat16Bits; }

/// Whether a type of half precision holds every number.
bool holds(const Heads& values, std::string_view type) {
  const bool half = type == "float16";
  const int bits = bits_of(type);
  for (const Grid& head : values)
    for (const double value : head.reshaped()) {
      if (!std::isfinite(value) || value == 0) continue;
      const double steps = value / kSmallestFloat16;
      if (half && (std::abs(value) > kLargestFloat16 || steps != std::nearbyint(steps))) return false;
      if (rounded(value, bits) != value) return false;
    }
  return true;
}

}  // namespace

bool have_digits(const Heads& values) {
  constexpr int kFewBits = 3;
  return std::any_of(values.begin(), values.end(), [](const Grid& head) {
    return (head.array().isFinite() && head.array() != rounded(head, kFewBits).array()).any();
  });
}

namespace {

/// For each row of weights: twice the relative error, in units of the rounding, of what the softmax is taken of.
double spread_of(const Known& known, std::size_t head, Index row) {
  double largest = 0, least = 0;
  for (Index j = 0; j < known.keys(); ++j) {
    const double logit = known.logits[head](row, j);
    if (std::isfinite(logit)) largest = std::max(largest, logit), least = std::min(least, logit);
  }
  return 1 + 2 * (largest - least);
}

/// Whether weights are within the error of a softmax of scores with a relative error of `unit`, times `spread`.
template <class Spread>
bool within(const Heads& right, const Heads& found, double unit, const Spread& spread) {
  if (!same_shape(right, found)) return false;
  for (std::size_t head = 0; head < right.size(); ++head)
    for (Index i = 0; i < right[head].rows(); ++i) {
      const double allowed = 4 * unit * spread(head, i);
      for (Index j = 0; j < right[head].cols(); ++j)
        if (!(std::abs(right[head](i, j) - found[head](i, j)) <=
              allowed * (right[head](i, j) + 1e-3 * unit) + unit * 1e-2))
          return false;
    }
  return true;
}

/// Numbers of half precision, or computed with them.
bool is_half(const Known& known, const LayerArrays& found, const JudgedArray& one, const std::string& type) {
  const double unit = std::ldexp(1, -bits_of(type) - 1);
  // Of an output alone nothing shows how its weights were rounded: it is the right one, stored.
  const bool alone = one.step == SlipStep::output && found[SlipStep::weights].empty();
  const double tolerance = alone ? 4 * unit : static_cast<double>(tolerance_of(type));
  if (!distance(one.step, known.right[one.step], found[one.step], tolerance).within) return false;
  return one.step != SlipStep::weights ||
         within(known.right[one.step], found[one.step], unit,
                [&](std::size_t head, Index row) { return spread_of(known, head, row); });
}

/// Whether weights are the softmax of scores of half precision: the logarithms of a row differ by whole steps, but for
/// scores near 0, whose steps are finer.
bool have_half_scores(const Heads& weights, const std::string& type) {
  constexpr double kExact = 1.5e-6;  // of a logarithm of a softmax in float32
  constexpr Index kFew = 4;
  const double step = std::ldexp(1, -bits_of(type) - 4);  // of scores that are not near 0
  Index whole = 0, all = 0;
  for (const Grid& head : weights)
    for (Index i = 0; i < head.rows(); ++i) {
      Index most = 0;
      for (Index first = 0; first < head.cols(); ++first) {
        Index steps = -1;  // (one is that of the first with itself)
        for (Index j = 0; j < head.cols() && head(i, first) > 0; ++j)
          steps += head(i, j) > 0 && std::abs(std::remainder(std::log(head(i, j) / head(i, first)), step)) <= kExact;
        most = std::max(most, steps);
      }
      whole += most, all += std::max<Index>((head.row(i).array() > 0).count() - 1, 0);
    }
  return whole >= kFew && 4 * whole >= 3 * all;
}

/// What a computation with fewer bits leaves of each array, where it explains all that differ.
std::optional<std::vector<double>> left_by(const Variant& variant, const std::string& type, const Known& known,
                                           const LayerArrays& found, const std::vector<JudgedArray>& judged) {
  Outcome outcome;
  std::vector<double> after;
  if (!compute_weights(known, variant, found, outcome)) return std::nullopt;
  compute_output(known, variant, outcome);
  for (const JudgedArray& one : judged) {
    const Heads& computed = outcome.arrays[one.step];
    after.push_back(computed.empty() ? kOpenCell : distance(one.step, computed, found[one.step], 0).largest);
    const double most = static_cast<double>(tolerance_of(type)) * std::max(1.0, largest_of(known.right[one.step]));
    if (one.differs && !(after.back() <= 0.25 * one.before && one.before < most)) return std::nullopt;
  }
  return after;
}

/// Whether weights differ by no more than sums of q·kᵀ in float32 may.
bool is_order_of_sums(const Known& known, const LayerArrays& found, const JudgedArray& one) {
  if (!known.direct || one.step != SlipStep::weights) return false;
  const Heads sizes = dot_products(split_heads(known.projected[kQuery].cwiseAbs(), known.num_heads, HeadSplit::blocks),
                                   split_heads(known.projected[kKey].cwiseAbs(), known.num_kv_heads, HeadSplit::blocks),
                                   known.scale, known.logits.size());
  return within(known.right[one.step], found[one.step], 0x1p-24,
                [&](std::size_t head, Index row) { return 4 * sizes[head].row(row).maxCoeff(); });
}

}  // namespace

std::string precision_of(const Heads& right, const Heads& found) {
  for (const char* type : {"bfloat16", "float16"})
    if (holds(found, type) && !holds(right, type)) return type;
  return "";
}

std::optional<Rounding> rounding_of(const Known& known, const LayerArrays& found,
                                    const std::vector<JudgedArray>& judged) {
  const auto all = [&](const auto& is) {
    return std::all_of(judged.begin(), judged.end(), [&](const JudgedArray& one) { return !one.differs || is(one); });
  };
  Rounding rounding{.text = {}, .after = std::vector<double>(judged.size(), 0)};
  for (const char* type : {"bfloat16", "float16"}) {
    if (!all([&](const JudgedArray& one) {
          return precision_of(known.right[one.step], found[one.step]) == type && is_half(known, found, one, type);
        }))
      continue;
    rounding.text = words(phrases::numbers_of, type);
    for (std::size_t at = 0; at < judged.size(); ++at) {
      Heads right = known.right[judged[at].step];
      for (Grid& head : right) head = rounded(std::move(head), bits_of(type));
      rounding.after[at] = distance(judged[at].step, right, found[judged[at].step], 0).largest;
    }
    return rounding;
  }
  const auto computed = [&](const Variant& variant, const char* type, const Bilingual& text) {
    auto after = left_by(variant, type, known, found, judged);
    if (after) rounding = {.text = text, .after = *std::move(after)};
    return after.has_value();
  };
  if (known.direct && computed({.bits = kTf32Bits}, "tf32", words(phrases::in_tf32))) return rounding;
  for (const char* type : {"bfloat16", "float16"}) {
    const Bilingual text = words(phrases::numbers_of, type);
    if (known.exact && computed({.score_bits = bits_of(type)}, type, text)) return rounding;
    if (known.inputs && computed({.weight_bits = bits_of(type)}, type, text)) return rounding;
    if (all([&](const JudgedArray& one) {
          const Heads &right = known.right[one.step], &seen = found[one.step];
          return one.step == SlipStep::weights && have_half_scores(seen, type) && !have_half_scores(right, type) &&
                 within(right, seen, std::ldexp(1, -bits_of(type) - 1),
                        [&](std::size_t head, Index row) { return spread_of(known, head, row); });
        })) {
      for (std::size_t at = 0; at < judged.size(); ++at) rounding.after[at] = judged[at].before;
      rounding.text = text;
      return rounding;
    }
  }
  if (!all([&](const JudgedArray& one) { return is_order_of_sums(known, found, one); })) return std::nullopt;
  for (std::size_t at = 0; at < judged.size(); ++at) rounding.after[at] = judged[at].before;
  rounding.text = words(phrases::order_of_sums);
  return rounding;
}

}  // namespace headlight
