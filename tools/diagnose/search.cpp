#include "diagnose/search.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "diagnose/file_comparison.h"

namespace headlight {
namespace {

/// What may be left of a difference; a number that was taken explains it to a tenth by chance, once in ten.
constexpr double kLeft = 0.1, kLeftOfTaken = 0.01;
/// Cells of each decoy that one slip, or two, must leave unexplained.
constexpr Index kEvidence = 2, kEvidenceOfTwo = 4;
constexpr std::size_t kScreened = 2;  // heads that are computed first
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
      if (slips.size() > 1 && left.open > 0 && left.open >= left.cells) return false;  // more is open than explained
      if (!one.differs) {
        if (left.open > 0) return false;  // it is equal, and would not be known
        continue;
      }
      const bool takes =
          one.tolerance <= static_cast<double>(kCompareTolerance) &&
          std::any_of(slips.begin(), slips.end(), [](const SlipRow* row) { return row->general && row->fit; });
      if (!(left.largest <= (takes ? kLeftOfTaken : kLeft) * left.before) || !(left.before > 0)) return false;
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

  /// All arrays; those behind the weights where the slips reach them.
  bool compute_all(Outcome& outcome) {
    if (!compute(outcome, known.logits.size())) return false;
    if (options.stored) outcome.arrays[SlipStep::weights] = known.right[SlipStep::weights];
    if ((touches & (bit(SlipStep::values) | bit(SlipStep::output))) == 0) return true;
    if ((touches & bit(SlipStep::weights)) == 0 && !known.direct)
      outcome.arrays[SlipStep::weights] = known.right[SlipStep::weights];
    const double before = outcome.cells;
    compute_output(known, variant, outcome);
    cells += outcome.cells - before;
    return true;
  }

  std::optional<Explanation> explains() {
    if (!make() || !passes_screen()) return std::nullopt;
    Explanation explanation{
        .slips = slips, .texts = texts, .heads = variant.heads, .after = std::vector<double>(judged.size(), kOpenCell)};
    Outcome outcome;
    Index agreeing = 0;
    if (!compute_all(outcome) || !fits(outcome, explanation.after, explanation.worst, agreeing)) return std::nullopt;
    explanation.explained = agreeing - outcome.fitted;
    return explanation;
  }

  /// Of what stands in `found`, a decoy: how many cells are not as these slips would make them.
  Index unexplained() {
    constexpr Index kAll = std::numeric_limits<Index>::max();
    Outcome outcome;
    if (!make() || !compute_all(outcome)) return kAll;
    if (options.hidden) {
      std::vector<double> after(judged.size());
      double worst = 0;
      Index agreeing = 0;
      return fits(outcome, after, worst, agreeing) ? 0 : kAll;
    }
    Index beyond = 0;
    for (const JudgedArray& one : judged) {
      const Heads& computed = outcome.arrays[one.step];
      if (!one.differs || (touches & bit(one.step)) == 0 || computed.empty()) continue;
      if (!same_shape(computed, found[one.step])) return kAll;
      beyond +=
          distance(one.step, computed, found[one.step], one.tolerance, beside(outcome, computed, one.step)).beyond;
    }
    return beyond;
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
    if (auto explanation = proved(rows, heads)) fitting.push_back(std::move(*explanation));
  }
  Attempt made(const Known& of, const LayerArrays& in, const std::vector<JudgedArray>& arrays,
               const std::vector<const SlipRow*>& rows, const std::vector<Index>& heads) const {
    Attempt one{.known = of, .found = in, .judged = arrays, .options = options, .slips = rows};
    one.variant.heads = heads;
    return one;
  }
  std::optional<Explanation> explained(const std::vector<JudgedArray>& arrays, const std::vector<const SlipRow*>& rows,
                                       const std::vector<Index>& heads) {
    Attempt one = made(known, found, arrays, rows, heads);
    auto explanation = one.explains();
    cells += one.cells;
    return explanation;
  }

  /// Made when first something fits.
  std::optional<std::vector<Decoy>> decoys = {};
  std::array<std::optional<Known>, 2> others = {};  // of OtherInputs

  /// The same, if no decoy is explained as well. What a slip of the mask does to the mask is evidence too, where the
  /// numbers under it are not known.
  std::optional<Explanation> proved(const std::vector<const SlipRow*>& rows, const std::vector<Index>& heads) {
    auto explanation = explained(judged, rows, heads);
    if (!explanation) return explanation;
    if (!decoys) decoys = decoys_of(known, found, judged, options.hidden);
    struct Count {
      Index decoys = 0, least = std::numeric_limits<Index>::max();
    } same_mask, other_mask;
    for (const Decoy& decoy : *decoys) {
      Attempt one = made(known, decoy.arrays, judged, rows, heads);
      Count& count = decoy.same_mask ? same_mask : other_mask;
      count.least = std::min(count.least, one.unexplained());
      ++count.decoys;
      cells += one.cells;
    }
    const Index wanted = rows.size() > 1 ? kEvidenceOfTwo : kEvidence;
    // What comes out of any inputs shows nothing of these.
    if (std::none_of(rows.begin(), rows.end(), [](const SlipRow* row) { return row->fit || row->masks; })) {
      Steps touches = 0;
      for (const SlipRow* row : rows) touches |= row->touches;
      constexpr Steps kAfter = bit(SlipStep::values) | bit(SlipStep::output);
      const auto which = (touches & ~kAfter) != 0 ? OtherInputs::queries_and_keys : OtherInputs::values;
      auto& other = others[static_cast<std::size_t>(which)];
      if (!other) other = of_other_inputs(known, which);
      Attempt one = made(*other, found, judged, rows, heads);
      if (one.unexplained() < wanted) return std::nullopt;
      cells += one.cells;
      ++explanation->decoys;
    }
    const auto is_evidence = [&](const Count& count) { return count.decoys > 0 && count.least >= wanted; };
    const bool of_mask = rows.size() == 1 && rows[0]->masks && is_evidence(other_mask);
    if (!is_evidence(same_mask) && !of_mask) return std::nullopt;
    explanation->decoys +=
        (is_evidence(same_mask) ? same_mask.decoys : 0) + (is_evidence(other_mask) ? other_mask.decoys : 0);
    return explanation;
  }

  /// Keeps the explanations that fit about as well as the best one and explain about as many cells, one for each list
  /// of codes. Returns whether one is left.
  bool settle() {
    double least = kApart;
    Index most = 0;
    for (const Explanation& one : fitting) least = std::min(least, one.worst);
    std::erase_if(fitting, [&](const Explanation& one) { return one.worst > 2 * least + 1e-6; });
    for (const Explanation& one : fitting) most = std::max(most, one.explained);
    constexpr Index kAsMuch = 20;  // of cells, less a twentieth
    std::erase_if(fitting, [&](const Explanation& one) { return one.explained < most - most / kAsMuch; });
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

std::optional<Explanation> explain(const Known& known, const LayerArrays& found, const std::vector<JudgedArray>& judged,
                                   const std::vector<const SlipRow*>& slips, const std::vector<Index>& heads,
                                   const SearchOptions& options) {
  return Search{.known = known, .found = found, .judged = judged, .options = options}.proved(slips, heads);
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
