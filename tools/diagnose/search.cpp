#include "diagnose/search.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace headlight {
namespace {

constexpr double kLeft = 0.1;  // of a difference, at most
/// Cells that must be evidence for one slip or for two, beyond the numbers that were taken.
constexpr Index kEvidence = 2, kEvidenceOfTwo = 4;
constexpr std::size_t kScreened = 2;  // heads that are computed first
/// Of the largest score of a row: what float32 leaves open in it.
constexpr double kFloatNoise = 1e-6;

/// The largest |number| of a row that is finite and masks nothing, and 1 at least.
double magnitude_of(const Grid& values, Index row) {
  double magnitude = 1;
  for (Index j = 0; j < values.cols(); ++j)
    if (std::isfinite(values(row, j)) && values(row, j) > kSurelyMasked)
      magnitude = std::max(magnitude, std::abs(values(row, j)));
  return magnitude;
}

/// One combination of slips, while it is tried.
struct Attempt {
  const Known& known;
  const LayerArrays& found;
  const std::vector<JudgedArray>& judged;
  const SearchOptions& options;
  std::vector<const SlipRow*> slips;
  Variant variant = {};
  std::vector<Bilingual> texts = {};
  Steps touches = 0;
  double cells = 0;  // that were computed

  bool compute(Outcome& outcome, std::size_t most_heads) {
    const bool computed = compute_weights(known, variant, found, outcome, most_heads);
    cells += outcome.cells;
    return computed;
  }

  bool make() {
    // Those with numbers from what was found are made last.
    std::stable_partition(slips.begin(), slips.end(), [](const SlipRow* row) { return !row->fit; });
    for (const SlipRow* row : slips) {
      touches |= row->touches;
      if (row->fit) continue;
      texts.push_back(row->text);
      if (!row->apply(known, variant)) return false;
    }
    if (options.stored) touches &= bit(SlipStep::scores);
    // What differs and is not touched is not explained.
    const bool reaches = options.hidden || std::all_of(judged.begin(), judged.end(), [&](const JudgedArray& one) {
                           return !one.differs || (touches & bit(one.step)) != 0;
                         });
    return reaches && (touches != 0) && fit();
  }

  bool fit() {
    for (const SlipRow* row : slips) {
      if (!row->fit) continue;
      Outcome without;
      const bool all = row->whole || !variant.heads.empty();
      if (!compute(without, all ? known.logits.size() : kScreened)) return false;
      LayerArrays seen;
      if (options.stored) seen = found, seen[SlipStep::weights].clear();
      texts.push_back(row->fit(known, variant, without, options.stored ? seen : found));
      if (texts.back().empty()) return false;
    }
    return true;
  }

  /// Whether these arrays of the outcome are as found. `after`: what is left of each.
  bool fits(const Outcome& outcome, std::vector<double>& after, double& worst, Index& agreeing) const {
    bool any = false;
    for (std::size_t at = 0; at < judged.size(); ++at) {
      const JudgedArray& one = judged[at];
      if ((touches & bit(one.step)) == 0) {
        after[at] = one.before;
        continue;
      }
      const Heads& computed = outcome.arrays[one.step];
      const bool follows = one.step == SlipStep::output && any;
      const bool is_open =
          std::all_of(computed.begin(), computed.end(), [](const Grid& head) { return head.array().isNaN().all(); });
      if (is_open) {
        if (follows) continue;
        return false;
      }
      const Distance left =
          distance(one.step, computed, found[one.step], one.tolerance, beside(outcome, computed, one.step));
      after[at] = left.largest;
      if (options.hidden) {
        if (!hides(one.step, computed, left.largest, worst, any)) return false;
        agreeing += left.cells;
        continue;
      }
      if (!left.within || !left.varies) return false;
      if (!one.differs) continue;
      if (!(left.largest <= kLeft * left.before) || !(left.before > 0)) return false;
      any = true;
      worst = std::max(worst, std::isfinite(left.before) ? left.largest / left.before : 0);
      agreeing += left.cells;
    }
    return any;
  }
  Beside beside(const Outcome& outcome, const Heads& computed, SlipStep step) const {
    const Heads& scores = outcome.arrays[SlipStep::scores];
    const bool by_head = step != SlipStep::output;
    return {.scores = scores.size() == computed.size() ? &scores : nullptr,
            .right = &known.right[step],
            .heads = by_head ? &variant.heads : nullptr};
  }

  /// Of a difference below the tolerance: nine tenths of what the slip does are there, if it does more than rounding.
  static constexpr double kRounding = 2e-6;
  bool hides(SlipStep step, const Heads& computed, double left, double& worst, bool& any) const {
    const Distance effect = distance(step, computed, known.right[step], 0);
    const double largest = largest_of(computed);
    if (!(effect.largest >= kRounding * largest)) return true;
    if (!(left <= kLeft * effect.largest)) return false;
    any = true;
    worst = std::max(worst, left / effect.largest);
    return true;
  }

  /// The first heads and the weights' steps alone: a cheap no.
  bool passes_screen() {
    constexpr Steps kWeightSteps = bit(SlipStep::scores) | bit(SlipStep::weights);
    if (known.logits.size() <= kScreened || options.hidden || (touches & kWeightSteps) == 0) return true;
    if (std::none_of(judged.begin(), judged.end(),
                     [](const JudgedArray& one) { return (bit(one.step) & kWeightSteps) != 0; }))
      return true;
    Outcome outcome;
    if (!compute(outcome, kScreened)) return false;
    for (const JudgedArray& one : judged) {
      const Heads& computed = outcome.arrays[one.step];
      if ((touches & bit(one.step) & kWeightSteps) == 0 || computed.empty() || found[one.step].size() < computed.size())
        continue;
      const Heads seen(found[one.step].begin(), found[one.step].begin() + static_cast<std::ptrdiff_t>(computed.size()));
      if (!distance(one.step, computed, seen, one.tolerance, beside(outcome, computed, one.step)).within) return false;
    }
    return true;
  }

  std::optional<Explanation> explains() {
    if (!make() || !passes_screen()) return std::nullopt;
    Explanation explanation{
        .slips = slips, .texts = texts, .heads = variant.heads, .after = std::vector<double>(judged.size(), kOpenCell)};
    Outcome outcome;
    if (!compute(outcome, known.logits.size())) return std::nullopt;
    if (options.stored) outcome.arrays[SlipStep::weights] = known.right[SlipStep::weights];
    const bool ends = (touches & (bit(SlipStep::values) | bit(SlipStep::output))) == 0;
    if (!ends) {
      if ((touches & bit(SlipStep::weights)) == 0 && !known.direct)
        outcome.arrays[SlipStep::weights] = known.right[SlipStep::weights];
      const double before = outcome.cells;
      compute_output(known, variant, outcome);
      cells += outcome.cells - before;
    }
    Index agreeing = 0;
    if (!fits(outcome, explanation.after, explanation.worst, agreeing)) return std::nullopt;
    explanation.evidence = agreeing - outcome.fitted;
    if (explanation.evidence < (slips.size() > 1 ? kEvidenceOfTwo : kEvidence)) return std::nullopt;
    return explanation;
  }
};

struct Search {
  const Known& known;
  const LayerArrays& found;
  const std::vector<JudgedArray>& judged;
  const SearchOptions& options;
  Found result = {};
  double cells = 0;  // that were computed
  std::vector<Explanation> fitting = {};

  bool is_over() {
    result.stopped = result.stopped || cells > options.cells;
    return result.stopped;
  }

  void attempt(const std::vector<const SlipRow*>& rows, const std::vector<Index>& heads) {
    if (auto explanation = explained(judged, rows, heads)) fitting.push_back(std::move(*explanation));
  }
  std::optional<Explanation> explained(const std::vector<JudgedArray>& arrays, const std::vector<const SlipRow*>& rows,
                                       const std::vector<Index>& heads) {
    Attempt one{.known = known, .found = found, .judged = arrays, .options = options, .slips = rows};
    one.variant.heads = heads;
    auto explanation = one.explains();
    cells += one.cells;
    return explanation;
  }

  /// Keeps the explanations that fit about as well as the best one and have about as much evidence, one for each list
  /// of codes. Returns whether one is left.
  bool settle() {
    double least = kApart;
    Index most = 0;
    for (const Explanation& one : fitting) least = std::min(least, one.worst);
    std::erase_if(fitting, [&](const Explanation& one) { return one.worst > 2 * least + 1e-6; });
    for (const Explanation& one : fitting) most = std::max(most, one.evidence);
    constexpr Index kAsMuch = 20;  // of evidence, less a twentieth
    std::erase_if(fitting, [&](const Explanation& one) { return one.evidence < most - most / kAsMuch; });
    const auto is_general = [](const Explanation& one) {
      return std::any_of(one.slips.begin(), one.slips.end(), [](const SlipRow* row) { return row->general; });
    };
    if (!std::all_of(fitting.begin(), fitting.end(), is_general)) std::erase_if(fitting, is_general);
    for (Explanation& one : fitting) {
      const auto same = [&](const Explanation& other) {
        return std::equal(one.slips.begin(), one.slips.end(), other.slips.begin(), other.slips.end(),
                          [](const SlipRow* a, const SlipRow* b) { return a->code == b->code; });
      };
      if (std::none_of(result.explanations.begin(), result.explanations.end(), same))
        result.explanations.push_back(std::move(one));
    }
    fitting.clear();
    return !result.explanations.empty();
  }

  bool singles(const std::vector<std::vector<Index>>& which, bool general = true) {
    for (const auto& heads : which)
      for (const SlipRow& row : slips())
        if ((!row.general || general) && (heads.empty() || !row.whole) && !is_over()) attempt({&row}, heads);
    return settle();
  }

  bool pairs(const std::vector<std::vector<Index>>& which) {
    const auto of_weights = [](const SlipRow& row) { return (row.touches & bit(SlipStep::weights)) != 0; };
    for (const auto& heads : which)
      for (std::size_t i = 0; i < slips().size(); ++i)
        for (std::size_t j = i + 1; j < slips().size() && !is_over(); ++j) {
          const SlipRow &a = slips()[i], &b = slips()[j];
          if ((a.part & b.part) != 0 || (a.fit && b.fit) || (!heads.empty() && (a.whole || b.whole))) continue;
          // The slip of the weights must explain them by itself.
          if (of_weights(a) != of_weights(b) && !explains_weights(of_weights(a) ? a : b, heads)) continue;
          attempt({&a, &b}, heads);
        }
    return settle();
  }

  /// Whether a slip alone explains all arrays up to the weights; asked once.
  std::map<std::pair<const SlipRow*, std::vector<Index>>, bool> known_for_weights = {};
  bool explains_weights(const SlipRow& row, const std::vector<Index>& heads) {
    const auto [at, fresh] = known_for_weights.try_emplace({&row, heads}, true);
    if (!fresh) return at->second;
    std::vector<JudgedArray> up_to;
    for (const JudgedArray& one : judged)
      if (one.step != SlipStep::output && one.step != SlipStep::values) up_to.push_back(one);
    if (std::any_of(up_to.begin(), up_to.end(), [](const JudgedArray& one) { return one.differs; }))
      at->second = explained(up_to, {&row}, heads).has_value();
    return at->second;
  }

  /// The heads that differ, where some do not; each alone where only the output is known.
  std::vector<std::vector<Index>> some_heads() const {
    std::vector<Index> differing;
    bool seen = false;
    for (const JudgedArray& one : judged) {
      if (one.step != SlipStep::scores && one.step != SlipStep::weights) continue;
      const Heads &a = known.right[one.step], &b = found[one.step];
      if (!same_shape(a, b)) return {};
      seen = true;
      for (std::size_t head = 0; head < a.size(); ++head)
        if (!distance(one.step, {a[head]}, {b[head]}, one.tolerance).within &&
            std::find(differing.begin(), differing.end(), static_cast<Index>(head)) == differing.end())
          differing.push_back(static_cast<Index>(head));
    }
    std::sort(differing.begin(), differing.end());
    if (!differing.empty()) {
      if (static_cast<Index>(differing.size()) == known.num_heads) return {};
      return {differing};
    }
    std::vector<std::vector<Index>> each;
    for (Index head = 0; !seen && known.num_heads > 1 && head < known.num_heads; ++head) each.push_back({head});
    return each;
  }
};

}  // namespace

double largest_of(const Heads& heads) {
  double largest = 0;
  for (const Grid& head : heads)
    largest = std::max(largest, head.array().isFinite().select(head.array().abs(), 0).maxCoeff());
  return largest;
}

Distance distance(SlipStep step, const Heads& computed, const Heads& found, double tolerance, const Beside& beside) {
  Distance result;
  if (!same_shape(computed, found)) return {.largest = kApart, .within = false};
  const bool right =
      beside.right && beside.right->size() >= computed.size() && same_shape((*beside.right)[0], computed[0]);
  if (!right) result.before = kApart;
  std::optional<double> opened;  // the first score that was found where one is open
  bool opens = false, varies = false;
  for (std::size_t head = 0; head < computed.size(); ++head) {
    const bool counts =
        !beside.heads || beside.heads->empty() ||
        std::find(beside.heads->begin(), beside.heads->end(), static_cast<Index>(head)) != beside.heads->end();
    for (Index i = 0; i < computed[head].rows(); ++i) {
      double allowed = tolerance;
      if (step != SlipStep::weights) allowed *= magnitude_of(computed[head], i);
      else if (beside.scores) allowed = std::max(allowed, kFloatNoise * magnitude_of((*beside.scores)[head], i));
      const bool scored = step == SlipStep::scores;
      const double hides_x = scored ? masked_below(computed[head], i) : 0;
      const double hides_y = scored ? masked_below(found[head], i) : 0;
      const double hides_right = scored && right ? masked_below((*beside.right)[head], i) : 0;
      for (Index j = 0; j < computed[head].cols(); ++j) {
        const double x = computed[head](i, j), y = found[head](i, j);
        if (scored && y <= hides_y) {
          if (std::isnan(x)) return {.largest = kApart, .within = false};
          if (x <= hides_x) {
            if (right && (*beside.right)[head](i, j) > hides_right)
              result.before = kApart, result.cells += counts ? 1 : 0;
            continue;
          }
        }
        if (std::isnan(x)) {
          // A score where the right side has none is a difference that is explained.
          if (scored && right && (*beside.right)[head](i, j) <= hides_right) result.before = kApart;
          opens = true, varies = varies || (opened && *opened != y);
          opened = y;
          continue;
        }
        if (right) {
          const double moved = std::abs((*beside.right)[head](i, j) - y);
          result.before =
              std::max(result.before, std::isnan(moved) ? ((*beside.right)[head](i, j) == y ? 0 : kApart) : moved);
        }
        if (counts && (x != 0 || y != 0 || (right && (*beside.right)[head](i, j) != 0))) ++result.cells;
        if (x == y) continue;
        const double apart = std::isnan(x - y) ? kApart : std::abs(x - y);
        result.largest = std::max(result.largest, apart);
        result.within = result.within && apart <= allowed;
      }
    }
  }
  result.varies = step != SlipStep::scores || !opens || varies;
  return result;
}

std::vector<JudgedArray> judged_arrays(const Known& known, const LayerArrays& found, double tolerance) {
  std::vector<JudgedArray> judged;
  for (std::size_t at = 0; at < kSteps; ++at) {
    const auto step = static_cast<SlipStep>(at);
    if (known.right[step].empty() || found[step].empty()) continue;
    JudgedArray one{.step = step, .tolerance = tolerance};
    const Distance apart = distance(step, known.right[step], found[step], tolerance);
    one.before = apart.largest;
    one.differs = !apart.within;
    judged.push_back(one);
  }
  return judged;
}

std::optional<Explanation> explain(const Known& known, const LayerArrays& found, const std::vector<JudgedArray>& judged,
                                   const std::vector<const SlipRow*>& slips, const std::vector<Index>& heads,
                                   const SearchOptions& options) {
  return Search{.known = known, .found = found, .judged = judged, .options = options}.explained(judged, slips, heads);
}

Found search(const Known& known, const LayerArrays& found, const std::vector<JudgedArray>& judged,
             const SearchOptions& options) {
  Search one{.known = known, .found = found, .judged = judged, .options = options};
  const std::vector<std::vector<Index>> all{{}};
  if (one.singles(all, !options.hidden && !options.rounded) || options.hidden) return one.result;
  if (options.rounded) return one.singles(all), one.result;
  const auto some = one.some_heads();
  if (one.singles(some)) return one.result;
  if (!one.pairs(all)) one.pairs(some);
  return one.result;
}

}  // namespace headlight
