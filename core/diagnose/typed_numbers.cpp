#include "diagnose/typed_numbers.h"

#include <cmath>

#include "base/formatted.h"
#include "base/printable.h"
#include "diagnose/capture_masks.h"
#include "diagnose/known.h"
#include "diagnose/search.h"

namespace headlight {
namespace {

constexpr double kTypedCells = 1e7;   // of a search while numbers are typed: it may take some ten milliseconds
constexpr double kSumsToOne = 0.005;  // a row of exact numbers
constexpr Index kFewCells = 4;        // are not enough for a slip that explains nearly anything

Bilingual row_text(Index row, const NumberTable& table) {
  const auto at = static_cast<std::size_t>(row);
  const std::string label = at < table.row_labels.size() ? " (" + printable(table.row_labels[at]) + ")" : "";
  return words(phrases::table_row, std::to_string(row), label);
}

/// How far the sum of a row may be from 1: by half a unit of the last digit of each number where all were printed with
/// two decimals.
double tolerance_of_sums(const Grid& cells) {
  const Grid hundreds = 100 * cells;
  const bool printed = (hundreds - hundreds.array().round().matrix()).cwiseAbs().maxCoeff() < 1e-3;
  return kSumsToOne * (printed ? static_cast<double>(cells.cols()) + 1e-3 : 1);
}

struct NumbersJudge {
  double tolerance;
  std::vector<Mistake> found = {};
  void add(const MistakeCode& code, Bilingual text) { found.push_back({.code = code, .text = std::move(text)}); }

  void take_mask(const NumberTable& scores, const Allowed& allowed) {
    auto mistake = mistake_in(allowed);
    if (!mistake) return;
    Index row = 0;
    while (row < allowed.rows() && allowed.row(row).any()) ++row;
    if (row < allowed.rows()) mistake->text = words(phrases::row_sees_nothing, mistake->text, row_text(row, scores));
    found.push_back(std::move(*mistake));
  }

  void take_sums(const NumberTable& weights) {
    const Grid cells = weights.numbers.cast<double>();
    const double tolerance_of_sum = tolerance_of_sums(cells);
    for (Index row = 0; row < cells.rows(); ++row) {
      const Bilingual text = row_text(row, weights);
      if (!sums_to_one(cells.row(row), tolerance_of_sum))
        add(mistakes::weights_changed, words(phrases::row_sum, text, formatted("%.2f", cells.row(row).sum())));
      if (cells.row(row).minCoeff() < 0) add(mistakes::weights_changed, words(phrases::row_below_zero, text));
    }
  }

  /// One table beside what leads to it.
  void compare(SlipStep step, const NumberTable& table, const ExportFile& right) {
    const Known known = known_of(right, right, "", 0);
    LayerArrays seen;
    seen[step] = {table.numbers.cast<double>()};
    const Grid &expected = known.right[step][0], &given = seen[step][0];
    const bool of_weights = step == SlipStep::weights;
    if (!same_shape(expected, given))
      return add(mistakes::unexplained,
                 words(phrases::table_shape, of_weights ? "weights" : "scores",
                       shape_text({expected.rows(), expected.cols()}), shape_text({given.rows(), given.cols()})));
    const auto judged = judged_arrays(known, seen, tolerance);
    if (!judged[0].differs) return;
    for (const Explanation& one : search(known, seen, judged, {.cells = kTypedCells, .rounded = true}).explanations)
      if (!one.slips[0]->general || one.evidence > kFewCells) return add(one.slips[0]->code, one.texts[0]);
    for (Index row = 0; row < given.rows(); ++row) {
      if (distance(step, {expected.row(row)}, {given.row(row)}, tolerance).within) continue;
      Index column = 0;
      const Eigen::RowVectorXd apart = (given.row(row) - expected.row(row)).cwiseAbs();
      apart.array().isNaN().select(0, apart).maxCoeff(&column);
      const auto number = [&](const Grid& numbers) { return formatted("%.2f", numbers(row, column)); };
      add(mistakes::unexplained, words(of_weights ? phrases::row_not_softmax : phrases::row_not_product,
                                       row_text(row, table), std::to_string(column), number(given), number(expected)));
    }
  }
};

/// What scores and weights follow from, where x and its weights fit and are of one head; under the mask of the scores.
std::optional<ExportFile> right_of_x(const OwnNumbers& numbers, const Allowed& allowed) {
  if (!numbers.x || heads_of_numbers(numbers) != 1 || !model_of_numbers("numbers", numbers)) return std::nullopt;
  const Grid x = numbers.x->numbers.cast<double>();
  const auto projected = [&](const std::vector<NumberTable>& weight) -> Grid {
    return weight.empty() ? x : Grid(x * side_by_side(weight).cast<double>());
  };
  const Grid q = projected(numbers.w_q), k = projected(numbers.w_k);
  Grid scores = q * k.transpose() / std::sqrt(static_cast<double>(q.cols()));
  if (scores.rows() == allowed.rows() && scores.cols() == allowed.cols()) scores += mask_of(allowed);
  ExportFile right;
  right.d_k = q.cols();
  for (const auto& [name, array] : {std::pair{"queries", &q}, {"keys", &k}, {"scores", &scores}})
    right.arrays[name] = array_of(array->cast<float>());
  return right;
}

}  // namespace

std::vector<Mistake> check_numbers(const OwnNumbers& numbers, double tolerance) {
  NumbersJudge judge{tolerance};
  Allowed allowed;
  if (numbers.scores) judge.take_mask(*numbers.scores, allowed = allowed_in(numbers.scores->numbers.cast<double>()));
  if (numbers.weights) judge.take_sums(*numbers.weights);
  auto right = right_of_x(numbers, allowed);
  if (numbers.scores) {
    if (right) judge.compare(SlipStep::scores, *numbers.scores, *right);
    else right.emplace();
    right->arrays = {{"scores", array_of(numbers.scores->numbers)}};
  }
  if (numbers.weights && right) judge.compare(SlipStep::weights, *numbers.weights, *right);
  return std::move(judge.found);
}

}  // namespace headlight
