#include "diagnose/typed_numbers.h"

#include <cmath>

#include "base/formatted.h"
#include "base/utf8.h"
#include "diagnose/known.h"
#include "diagnose/search.h"

namespace headlight {
namespace {

constexpr double kTypedCells = 1e7;  // of a search while numbers are typed: it may take some ten milliseconds
constexpr Index kFewCells = 4;       // are not enough for a slip that explains nearly anything
constexpr double kLeastUnit = 1e-4;  // a difference that float16 may make is no mistake
constexpr double kUnitOfIntegers = 0.01;
constexpr double kDeviations = 4;  // by which the sum of many roundings may be off

Bilingual row_text(Index row, const NumberTable& table) {
  const auto at = static_cast<std::size_t>(row);
  const std::string label = at < table.row_labels.size() ? " (" + printable(table.row_labels[at]) + ")" : "";
  return words(phrases::table_row, std::to_string(row), label);
}

/// The unit of the last decimal that the finite numbers were printed with, 0.01 of "0.25": 0 of integers, else at least
/// kLeastUnit.
double printed_unit(const Matrix& numbers) {
  constexpr double kFloat = 1e-6;  // relative: a typed decimal as float32
  const auto finite = numbers.array().isFinite().select(numbers.cast<double>().array(), 0).eval();
  for (double unit = 1; unit > kLeastUnit; unit /= 10)
    if (((finite / unit - (finite / unit).round()).abs() <= kFloat * (finite / unit).abs()).all())
      return unit < 1 ? unit : 0;
  return kLeastUnit;
}

/// With as many decimals as the table of that unit has, at least two.
std::string number_text(double number, double unit) {
  return formatted("%.*f", unit > 0 ? std::max(2, static_cast<int>(std::lround(-std::log10(unit)))) : 2, number);
}

/// The largest share of the largest number of its row, or of 1 where that is larger.
double relative_to_rows(const Grid& open, const Grid& scores) {
  const auto finite = scores.array().isFinite().select(scores.array().abs(), 0);
  return (open.rowwise().maxCoeff().array() / finite.rowwise().maxCoeff().max(1)).maxCoeff();
}

/// What a table follows from.
struct Source {
  ExportFile right = {};
  Grid open = {};  // (T, S): by how much the rounding of what was printed may change a score
};

struct NumbersJudge {
  std::vector<Mistake> found = {};
  void add(const MistakeCode& code, Bilingual text) { found.push_back({.code = code, .text = std::move(text)}); }

  void take_mask(const NumberTable& scores, const Allowed& allowed) {
    auto meant = meant_by(allowed);
    if (!meant) return;
    Mistake& mistake = meant->mistake;
    Index row = 0;
    while (row < allowed.rows() && allowed.row(row).any()) ++row;
    if (row < allowed.rows()) mistake.text = words(phrases::row_sees_nothing, mistake.text, row_text(row, scores));
    found.push_back(std::move(mistake));
  }

  void take_sums(const NumberTable& weights) {
    const Grid cells = weights.numbers.cast<double>();
    // Each number may be rounded by half a unit.
    const double unit = printed_unit(weights.numbers);
    const double tolerance = std::max(1e-3, (static_cast<double>(cells.cols()) - 0.01) * unit / 2);
    for (Index row = 0; row < cells.rows(); ++row) {
      const Bilingual text = row_text(row, weights);
      if (!sums_to_one(cells.row(row), tolerance))
        add(mistakes::weights_changed, words(phrases::row_sum, text, number_text(cells.row(row).sum(), unit)));
      if (cells.row(row).minCoeff() < 0) add(mistakes::weights_changed, words(phrases::row_below_zero, text));
    }
  }

  /// One table beside what leads to it; sums of weights where no mistake explains all of them.
  void explain(SlipStep step, const NumberTable& table, const Source& source) {
    const Known known = known_of(source.right, source.right, "", 0);
    LayerArrays seen;
    seen[step] = {table.numbers.cast<double>()};
    const Grid &expected = known.right[step][0], &given = seen[step][0];
    const bool of_weights = step == SlipStep::weights;
    if (!same_shape(expected, given)) {
      add(mistakes::unexplained,
          words(phrases::table_shape, of_weights ? "weights" : "scores", shape_text({expected.rows(), expected.cols()}),
                shape_text({given.rows(), given.cols()})));
      if (of_weights) take_sums(table);
      return;
    }
    const double printed = printed_unit(table.numbers), before = 2 * source.open.maxCoeff();
    // 1.0 and 0.0 may have been printed as what they follow from.
    const double unit = printed > 0 ? printed : std::clamp(before, kUnitOfIntegers, 0.1);
    const double half = 0.6 * unit;  // and a little, and as much again where nothing was rounded before
    const double open = of_weights ? source.open.maxCoeff() / 2 : relative_to_rows(source.open, expected);
    const double tolerance = half + std::max(unit / 2, open);
    const auto judged = judged_arrays(known, seen, tolerance);
    Found slips;
    if (judged[0].differs) slips = search(known, seen, judged, {.cells = kTypedCells, .rounded = true});
    for (const Explanation& one : slips.explanations)
      if (!one.slips[0]->general || one.explained > kFewCells) return add(one.slips[0]->code, one.texts[0]);
    if (of_weights) take_sums(table);
    for (Index row = 0; row < given.rows(); ++row) {
      Index column = 0;
      const Eigen::RowVectorXd apart = (given.row(row) - expected.row(row)).cwiseAbs();
      // d softmax = w (1 − w) d score, as much again where the other scores move the other way.
      const auto moved =
          2 * expected.row(row).array() * (1 - expected.row(row).array()) * source.open.row(row).maxCoeff();
      if (of_weights ? (apart.array() <= half + moved.max(unit / 2)).all()
                     : distance(step, {expected.row(row)}, {given.row(row)}, tolerance).within)
        continue;
      apart.array().isNaN().select(0, apart).maxCoeff(&column);
      const auto number = [&](const Grid& numbers) { return number_text(numbers(row, column), printed); };
      add(mistakes::unexplained, words(of_weights ? phrases::row_not_softmax : phrases::row_not_product,
                                       row_text(row, table), std::to_string(column), number(given), number(expected)));
    }
  }
};

/// A matrix, and the variances of its numbers, that were rounded or follow from such.
struct RoundedGrid {
  Grid numbers, variances;
};

/// Numbers that were printed with fewer decimals than `unit` has are exact.
RoundedGrid rounded_grid(const Matrix& printed, double unit) {
  const double own = printed_unit(printed), moved = unit > 0 && own > unit ? 0 : own;
  return {printed.cast<double>(), Grid::Constant(printed.rows(), printed.cols(), moved * moved / 12)};
}

RoundedGrid product(const RoundedGrid& a, const RoundedGrid& b) {
  return {a.numbers * b.numbers, a.variances * b.numbers.cwiseAbs2() + a.numbers.cwiseAbs2() * b.variances};
}

/// x and its weights, where they fit and are of one head, under a mask of the scores. `unit` of what follows from them.
std::optional<Source> source_of_x(const OwnNumbers& numbers, const Allowed& allowed, double unit) {
  if (!numbers.x || heads_of_numbers(numbers) != 1 || !model_of_numbers("numbers", numbers)) return std::nullopt;
  const RoundedGrid x = rounded_grid(numbers.x->numbers, unit);
  const auto projected = [&](const std::vector<NumberTable>& weight) {
    return weight.empty() ? x : product(x, rounded_grid(side_by_side(weight), unit));
  };
  const RoundedGrid q = projected(numbers.w_q), k = projected(numbers.w_k);
  auto [scores, variances] = product(q, {k.numbers.transpose(), k.variances.transpose()});
  const auto d_k = static_cast<double>(q.numbers.cols());
  scores /= std::sqrt(d_k);
  Source source{.open = kDeviations * (variances / d_k).cwiseSqrt()};
  if (scores.rows() == allowed.rows() && scores.cols() == allowed.cols()) scores += mask_of(allowed);
  source.right.d_k = q.numbers.cols();
  for (const auto& [name, array] : {std::pair{"queries", &q.numbers}, {"keys", &k.numbers}, {"scores", &scores}})
    source.right.arrays[name] = array_of(array->cast<float>());
  return source;
}

/// The masks that weights may have by their zeros, some of which may be rounded numbers: causal, of so many keys,
/// hidden keys, both; none.
std::vector<Allowed> masks_of_weights(const Matrix& weights) {
  const Allowed seen = weights.array() != 0, all = Allowed::Constant(seen.rows(), seen.cols(), true);
  const Allowed keys = parts_of(seen).keys, causal = causal_mask(seen.rows(), seen.cols(), seen.cols() - seen.rows());
  Index window = 0;
  for (Index i = 0; i < seen.rows(); ++i)
    for (Index j = 0; j < seen.cols(); ++j)
      if (seen(i, j)) window = std::max(window, i + seen.cols() - seen.rows() - j + 1);
  const Allowed near = causal && !causal_mask(seen.rows(), seen.cols(), seen.cols() - seen.rows() - window);
  std::vector<Allowed> options{causal && keys, causal, keys, all}, masks;
  if (window > 1) options.insert(options.begin() + 2, near);  // a window of one key shows nothing
  for (const Allowed& one : options)
    if ((one || !seen).all() &&
        std::none_of(masks.begin(), masks.end(), [&](const Allowed& known) { return are_same(known, one); }))
      masks.push_back(one);
  return masks;
}

/// The tables under one mask of the scores.
std::vector<Mistake> mistakes_under(const OwnNumbers& numbers, const Allowed& allowed) {
  const auto &scores = numbers.scores, &weights = numbers.weights;
  NumbersJudge judge;
  if (scores) judge.take_mask(*scores, allowed);
  auto source = scores || weights ? source_of_x(numbers, allowed, printed_unit((scores ? scores : weights)->numbers))
                                  : std::nullopt;
  if (scores) {
    if (source) judge.explain(SlipStep::scores, *scores, *source);
    const double half_unit = printed_unit(scores->numbers) / 2;
    source = Source{.open = Grid::Constant(scores->numbers.rows(), scores->numbers.cols(), half_unit)};
    source->right.arrays["scores"] = array_of(scores->numbers);
  }
  if (weights && source) judge.explain(SlipStep::weights, *weights, *source);
  else if (weights) judge.take_sums(*weights);
  return std::move(judge.found);
}

}  // namespace

std::vector<Mistake> check_numbers(const OwnNumbers& numbers) {
  if (numbers.scores) return mistakes_under(numbers, allowed_in(numbers.scores->numbers.cast<double>()));
  if (!numbers.weights) return {};
  // Weights that are right under a mask that their zeros allow are right; else their zeros are a mask or numbers.
  const Allowed seen = numbers.weights->numbers.array() != 0;
  std::vector<Mistake> mistakes;
  bool exact = false;
  for (const Allowed& allowed : masks_of_weights(numbers.weights->numbers)) {
    auto found = mistakes_under(numbers, allowed);
    if (found.empty()) return {};
    if (!exact) mistakes = std::move(found);
    exact = exact || are_same(allowed, seen);
  }
  return mistakes;
}

}  // namespace headlight
