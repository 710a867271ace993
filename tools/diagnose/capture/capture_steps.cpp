// What the steps around a softmax do to its cells: which they block, what they add, and what numbers they do it with.
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/formatted.h"
#include "diagnose/capture/capture_given.h"
#include "diagnose/capture/capture_masks.h"
#include "diagnose/slips.h"

namespace headlight {
namespace {

using namespace mistakes;

Array cells_as(Array cells, const std::function<float(float)>& of_cell) {
  std::transform(cells.values.begin(), cells.values.end(), cells.values.begin(), of_cell);
  return cells;
}

bool are_all(const Array& cells, const std::function<bool(float)>& holds) {
  return std::all_of(cells.values.begin(), cells.values.end(), holds);
}

bool is_zero(float cell) { return cell == 0; }
bool is_binary(float cell) { return cell == 0 || cell == 1; }

/// The number of which all cells are that are not 0, if it lowers scores and does not block them.
std::optional<float> lowering_number(const Array& cells) {
  const float least = *std::min_element(cells.values.begin(), cells.values.end());
  const bool lowers = least > kBlocking && least < 0 && cells.shape[3] > 2;
  const bool two = are_all(cells, [&](float cell) { return cell == least || cell == 0; });
  return lowers && two ? std::optional(least) : std::nullopt;
}

struct StepTaker {
  CapturedCall& call;
  const FactRow& step;
  const std::string& name;
  const Array& cells;

  /// Adds cells to those of an array; those of one sentence or head are those of all.
  void put(const std::string& array, const Array& more) const {
    if (are_all(more, is_zero)) return;
    const Array known = call.array(array) ? *call.array(array) : cells_as(more, [](float) { return 0.0f; });
    const Index sentences = std::max(known.shape[0], more.shape[0]), heads = std::max(known.shape[1], more.shape[1]);
    Array& all = call.arrays[array] = {.shape = {sentences, heads, more.shape[2], more.shape[3]}, .values = {}};
    for (Index b = 0; b < sentences; ++b)
      for (Index h = 0; h < heads; ++h) {
        const Matrix sum = (cells_of(known, b, h) + cells_of(more, b, h)).cast<float>();
        all.values.insert(all.values.end(), sum.data(), sum.data() + sum.size());
      }
  }

  void block(bool lowered, double number, const Array& hidden) const {
    put("blocked", hidden);
    if (are_all(hidden, is_zero) || !std::isfinite(number)) return;
    call.filled = number, call.lowered = lowered;
    if (number > kBlocking) call.step_of[blocked_scores_weak.name] = name;
  }

  std::vector<float>& scales(const char* how) const {
    call.given.push_back({"scale", how});
    return call.arrays.try_emplace("scales", Array{.shape = {1}, .values = {call.scale}}).first->second.values;
  }

  void take_times(std::vector<FactRow>& notes) const {
    bool one_a_head = true;
    for (Index b = 0; b < cells.shape[0]; ++b)
      for (Index h = 0; h < cells.shape[1]; ++h)
        one_a_head = one_a_head && (cells_of(cells, b, h).array() == cells_of(cells, 0, h)(0, 0)).all();
    if (one_a_head) {
      std::vector<float>& all = scales("learned");
      all.resize(std::max(all.size(), static_cast<std::size_t>(cells.shape[1])), all.back());
      for (std::size_t h = 0; h < all.size(); ++h)
        all[h] *= static_cast<float>(cells_of(cells, 0, static_cast<Index>(h))(0, 0));
    } else if (are_all(cells, is_binary)) block(false, 0, cells_as(cells, is_zero));
    else notes.push_back({"times_unknown", call.where});
  }

  void take_added(double factor) const {
    const Array added = cells_as(cells, [&](float cell) { return cell * static_cast<float>(factor); });
    const auto number = lowering_number(added);
    const auto is_hidden = [&](float cell) { return number ? cell == *number : cell <= kBlocking; };
    block(number.has_value(), number ? static_cast<double>(*number) : -INFINITY, cells_as(added, is_hidden));
    put("bias", cells_as(added, [&](float cell) { return is_hidden(cell) ? 0 : cell; }));
    if (step[3] == "product") scales("sum");
    if (step[3] == "learned") call.given.push_back({"bias", "learned"});
    const bool hides = std::any_of(added.values.begin(), added.values.end(), is_hidden);
    if (step[2].starts_with('-') && !hides) call.given.push_back({"bias", "subtracted"});
  }

  void take(std::vector<FactRow>& notes) const {
    const bool binary = are_all(cells, is_binary);
    const double number = parse_number<double>(step[1]).value_or(0);
    if (step[0] == "fill") block(false, number, cells);
    if (step[0] == "times") take_times(notes);
    if (step[0] == "add" && !binary) take_added(number);
    if (step[0] == "add" && binary) call.arrays["numbers"] = cells, call.step_of[mask_added_as_numbers.name] = name;
    if (!step[0].starts_with("after ") || !binary) return;
    put("after", cells_as(cells, [&](float cell) { return (cell != 0) == (step[0] == "after fill"); }));
    call.step_of[mask_after_softmax.name] = name;
  }
};

}  // namespace

std::optional<MistakeCode> wrong_scale(const CapturedCall& call) {
  if (call.scale == 0) return std::nullopt;
  const double d_k = static_cast<double>(call.d_k), ratio = static_cast<double>(call.scale) * std::sqrt(d_k);
  for (const auto& [code, factor] : scale_factors(d_k, static_cast<double>(call.heads)))
    if (std::abs(factor - 1) > 1e-3 && std::abs(ratio / factor - 1) < 1e-3) return code;
  return std::abs(ratio - 1) < 1e-3 ? std::nullopt : std::optional(scale_constant);
}

Bilingual scale_text(const MistakeCode& code, const CapturedCall& call) {
  const double root = std::sqrt(static_cast<double>(call.d_k)), scale = static_cast<double>(call.scale);
  return words(phrases::of_scale, words(code, decimal(scale * root)), decimal(scale), decimal(1 / root));
}

void leave_out_sinks(CapturedCall& call) {
  const auto found = call.arrays.find("attentions");
  if (found == call.arrays.end()) return;
  Array& weights = found->second;
  const Index cols = weights.shape[3], rows = static_cast<Index>(weights.values.size()) / cols;
  Eigen::Map<Matrix> all(weights.values.data(), rows, cols);
  const Eigen::VectorXf sums = all.rowwise().sum();
  for (Index row = 0; row < rows; ++row)
    if (sums(row) > 0) all.row(row) /= sums(row);
  const Array* output = call.array("output");
  if (call.array("merge") || !output || output->shape[2] % call.heads != 0 || output->shape[1] != weights.shape[2]) {
    for (const char* name : {"merge", "output"}) call.arrays.erase(name);
    return;
  }
  Array& out = call.arrays["output"];
  const Index queries = weights.shape[2], width = out.shape[2] / call.heads;
  for (Index row = 0; row < rows; ++row) {
    const Index sentence = row / (call.heads * queries), head = row / queries % call.heads, query = row % queries;
    float* first = out.values.data() + ((sentence * queries + query) * call.heads + head) * width;
    if (sums(row) > 0) std::for_each(first, first + width, [&](float& value) { value /= sums(row); });
  }
}

void take_steps(CapturedCall& call, std::vector<FactRow>& notes) {
  for (std::size_t i = 0; i < call.steps.size(); ++i) {
    const std::string name = "step." + std::to_string(i);
    if (const auto cells = call.arrays.extract(name)) StepTaker{call, call.steps[i], name, cells.mapped()}.take(notes);
  }
}

}  // namespace headlight
