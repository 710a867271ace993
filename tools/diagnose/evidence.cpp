// How far arrays are apart, and what proves that they are equal: other arrays, decoys, that might stand in their place.
#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "diagnose/search.h"

namespace headlight {
namespace {

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

constexpr std::uint64_t kSeed = 20;
constexpr double kSpread = 2;           // of random scores
constexpr double kSumTolerance = 1e-3;  // of a row whose weights sum to 1

/// The cells of a row that hold a number: of weights those that are not 0, of scores those that are not masked.
std::vector<Index> cells_in(SlipStep step, const Grid& grid, Index row) {
  std::vector<Index> cells;
  const double hidden = step == SlipStep::scores ? masked_below(grid, row) : 0;
  for (Index j = 0; j < grid.cols(); ++j) {
    const double cell = grid(row, j);
    if (!std::isfinite(cell) || (step == SlipStep::scores && cell <= hidden) ||
        (step == SlipStep::weights && cell == 0))
      continue;
    cells.push_back(j);
  }
  return cells;
}

/// Other numbers in the same cells: of a softmax where the row is one, else of the same mean and size. What the weights
/// of a row sum to stays only where it is 1.
void put_random(Random& random, bool weights, const std::vector<Index>& cells, Eigen::Ref<Eigen::RowVectorXd> row) {
  const auto count = static_cast<double>(cells.size());
  double sum = 0, least = kApart, largest = -kApart;
  for (const Index j : cells) sum += row(j), least = std::min(least, row(j)), largest = std::max(largest, row(j));
  const auto drawn = [&] { return static_cast<double>(random.symmetric(1)); };
  if (weights && least > 0) {
    const double mass = std::abs(sum - 1) <= kSumTolerance ? 1 : sum * (1 + 0.5 * drawn());
    double all = 0;
    for (const Index j : cells) all += row(j) = std::exp(kSpread * drawn());
    for (const Index j : cells) row(j) *= mass / all;
    return;
  }
  const double size = std::max(largest - least, 0.1 * std::max(std::abs(largest), std::abs(least)));
  for (const Index j : cells) row(j) = sum / count + size * drawn();
}

/// The numbers of a row, each in the next of its cells.
void turn(const std::vector<Index>& cells, Eigen::Ref<Eigen::RowVectorXd> row) {
  if (cells.empty()) return;
  const double last = row(cells.back());
  for (std::size_t at = cells.size(); at-- > 1;) row(cells[at]) = row(cells[at - 1]);
  row(cells.front()) = last;
}

/// Random attention under the same mask, in the rows that are not right: of the others any slip leaves some as they
/// are.
Heads random_heads(const JudgedArray& one, const Heads& right, const Heads& found) {
  Random random(derive_seed(kSeed, kStepNames[static_cast<std::size_t>(one.step)]));
  const SlipStep step = one.step;
  Heads heads = found;
  for (std::size_t h = 0; h < heads.size(); ++h)
    for (Index i = 0; i < heads[h].rows(); ++i) {
      Grid& head = heads[h];
      if (same_shape(right, found) && distance(step, {right[h].row(i)}, {head.row(i)}, one.tolerance).within) continue;
      Eigen::RowVectorXd row = head.row(i);
      put_random(random, step == SlipStep::weights, cells_in(step, head, i), row);
      head.row(i) = row;
    }
  return heads;
}

/// What is right, of other inputs: rows of the right side whose cells have moved.
Heads other_inputs(SlipStep step, const Heads& right, const Heads& found) {
  Heads heads = found;
  for (std::size_t head = 0; head < heads.size(); ++head) {
    const Grid& source = right[std::min(head, right.size() - 1)];
    if (!same_shape(source, heads[head])) return {};
    for (Index i = 0; i < source.rows(); ++i) {
      Eigen::RowVectorXd row = source.row(i);
      turn(cells_in(step, source, i), row);
      heads[head].row(i) = row;
    }
  }
  return heads;
}

/// Rows exchanged with those of other heads, or tokens, that have numbers in the same cells; a row without such moves
/// its cells.
Heads exchanged_rows(SlipStep step, const Heads& found) {
  Heads heads = found;
  const auto count = static_cast<Index>(found.size());
  for (Index h = 0; h < count; ++h) {
    const Grid& own = found[static_cast<std::size_t>(h)];
    for (Index i = 0; i < own.rows(); ++i) {
      const std::vector<Index> cells = cells_in(step, own, i);
      Eigen::RowVectorXd row = own.row(i);
      const Index head = (h + i) % count, other = count > 1 ? i : (i + 1) % own.rows();
      const Grid& from = found[static_cast<std::size_t>(head)];
      if ((head != h || other != i) && cells_in(step, from, other) == cells) row = from.row(other);
      else turn(cells, row);
      heads[static_cast<std::size_t>(h)].row(i) = row;
    }
  }
  return heads;
}

Heads reversed_keys(SlipStep step, const Heads& found) {
  if (step != SlipStep::weights && step != SlipStep::scores) return exchanged_rows(step, found);
  Heads heads = found;
  for (Grid& head : heads) head = head.rowwise().reverse().eval();
  return heads;
}

/// Whether weights, or scores, have numbers in the same cells.
bool are_masked_alike(SlipStep step, const Heads& a, const Heads& b) {
  if (step != SlipStep::weights && step != SlipStep::scores) return true;
  for (std::size_t head = 0; head < a.size(); ++head)
    for (Index i = 0; i < a[head].rows(); ++i)
      if (cells_in(step, a[head], i) != cells_in(step, b[head], i)) return false;
  return true;
}

/// The same distance from what is right, in other cells.
Heads moved_difference(SlipStep step, const Heads& right, const Heads& found) {
  Heads heads = found;
  for (std::size_t head = 0; head < heads.size() && same_shape(right, found); ++head)
    for (Index i = 0; i < heads[head].rows(); ++i) {
      std::vector<Index> cells = cells_in(step, right[head], i);
      std::erase_if(cells, [&](Index j) { return !std::isfinite(found[head](i, j)); });
      Eigen::RowVectorXd apart = heads[head].row(i) - right[head].row(i);
      turn(cells, apart);
      for (const Index j : cells) heads[head](i, j) = right[head](i, j) + apart(j);
    }
  return heads;
}

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
          if (std::isnan(x)) return {.largest = kApart, .within = false, .beyond = computed[head].size()};
          if (x <= hides_x) {
            if (right && (*beside.right)[head](i, j) > hides_right)
              result.before = kApart, result.cells += counts ? 1 : 0;
            continue;
          }
        }
        if (std::isnan(x)) {
          // A score where the right side has none is a difference that is explained.
          const bool hidden = scored && right && (*beside.right)[head](i, j) <= hides_right;
          if (hidden) result.before = kApart;
          result.open += counts && right && !hidden && std::isfinite((*beside.right)[head](i, j)) ? 1 : 0;
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
        result.beyond += counts && apart > allowed ? 1 : 0;
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

std::vector<Decoy> decoys_of(const Known& known, const LayerArrays& found, const std::vector<JudgedArray>& judged,
                             bool hidden) {
  constexpr int kKinds = 5;
  std::vector<Decoy> decoys;
  for (int kind = 0; kind < (hidden ? 1 : kKinds); ++kind) {
    Decoy decoy{.arrays = found};
    bool distinct = false;
    for (const JudgedArray& one : judged) {
      if (!one.differs && !hidden) continue;
      const Heads &right = known.right[one.step], &seen = found[one.step];
      Heads heads = hidden      ? moved_difference(one.step, right, seen)
                    : kind == 0 ? random_heads(one, right, seen)
                    : kind == 1 ? other_inputs(one.step, right, seen)
                    : kind == 2 ? exchanged_rows(one.step, seen)
                    : kind == 3 ? moved_difference(one.step, right, seen)
                                : reversed_keys(one.step, seen);
      if (heads.empty()) continue;
      distinct = distinct || !distance(one.step, seen, heads, hidden ? 0 : one.tolerance).within;
      decoy.same_mask = decoy.same_mask && are_masked_alike(one.step, seen, heads);
      decoy.arrays[one.step] = std::move(heads);
    }
    // Reversed keys are another mask, or nothing new.
    if (distinct && (kind + 1 < kKinds || !decoy.same_mask)) decoys.push_back(std::move(decoy));
  }
  return decoys;
}

Known of_other_inputs(Known known, OtherInputs which) {
  const bool of_values = which == OtherInputs::values;
  const double factors[] = {of_values ? 1.0 : -1.0, of_values ? 1.0 : 0.5, of_values ? -1.0 : 1.0};
  for (Grid& head : known.logits) head *= factors[kQuery] * factors[kKey];
  for (std::size_t role = 0; role < std::size(factors); ++role) {
    known.projected[role] *= factors[role];
    if (known.inputs) known.inputs->sides[role] *= factors[role];
  }
  known.cache = std::make_shared<Known::Projected>();
  return known;
}

}  // namespace headlight
