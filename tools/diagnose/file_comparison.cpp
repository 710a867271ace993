#include "diagnose/file_comparison.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>

#include "diagnose/masks.h"
#include "model/head_text.h"
#include "model/mask.h"

namespace headlight {
namespace {

/// Inputs first, then the kinds in the order in which one layer computes them.
constexpr std::array<std::string_view, 6> kStepsOfLayer = {"hidden_states", "queries", "keys",
                                                           "values",        "scores",  "attentions"};
constexpr std::array<std::string_view, 3> kStepsAfterLayers = {"output", "last_hidden_state", "logits"};

/// The sort key of a layer of an array: sentence, stack, layer, step within the layer, and the name where all else
/// is equal.
using Station = std::tuple<Index, int, Index, int, std::string>;

template <std::size_t N>
int step_in(const std::array<std::string_view, N>& steps, std::string_view kind) {
  const auto at = std::find(steps.begin(), steps.end(), kind);
  return at == steps.end() ? -1 : static_cast<int>(at - steps.begin());
}

Station station(const std::string& name, Index layer) {
  constexpr int kInputs = 0, kEncoder = 1, kMain = 2, kUnknown = 3;
  constexpr Index kAfterLayers = std::numeric_limits<Index>::max();
  const ArrayName parts = parse_array_name(name);
  const Index sentence = parts.sentence.value_or(0);
  const int stack = parts.stack == "encoder_" ? kEncoder : kMain;
  if (const int step = step_in(kStepsAfterLayers, parts.kind); step >= 0)
    return {sentence, stack, kAfterLayers, step, name};
  if (const int step = step_in(kStepsOfLayer, parts.kind); step >= 0) {
    const int after_self = parts.stack == "cross_" ? static_cast<int>(kStepsOfLayer.size()) : 0;
    return {sentence, stack, layer, step + after_self, name};
  }
  return {sentence, is_input(parts.kind) ? kInputs : kUnknown, 0, 0, name};
}

Index layer_of(const std::string& name, const std::vector<Index>& at) {
  const auto axes = axes_of(parse_array_name(name).kind);
  return !axes.empty() && axes[0] == "layer" && !at.empty() ? at[0] : 0;
}

std::vector<Index> indices(std::size_t offset, const std::vector<Index>& shape) {
  std::vector<Index> at(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    at[axis] = static_cast<Index>(offset % static_cast<std::size_t>(shape[axis]));
    offset /= static_cast<std::size_t>(shape[axis]);
  }
  return at;
}

float apart(float a, float b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const float difference = std::abs(a - b);
  return std::isnan(difference) ? std::numeric_limits<float>::infinity() : difference;
}

/// Axes of 1 in front mean nothing in an array that no export has.
std::vector<Index> without_leading_ones(std::vector<Index> shape) {
  shape.erase(shape.begin(), std::find_if(shape.begin(), shape.end(), [](Index size) { return size != 1; }));
  return shape;
}

/// The largest number of a row of scores; −inf where there is none.
float largest_score(std::span<const float> row) {
  float largest = -std::numeric_limits<float>::infinity();
  for (const float score : row) largest = std::max(largest, std::isnan(score) ? largest : score);
  return largest;
}

/// Whether a score is that of a masked cell: −inf, or a number that implementations add or use instead of −inf
/// (masked_from of model/mask.h), or one below kSurelyMasked, even where all of its row is.
bool is_masked_score(float score, float largest_of_row) {
  constexpr auto kSurely = static_cast<float>(kSurelyMasked);
  return score <= kSurely || score <= masked_from(largest_of_row);
}

/// The largest |expected| of a row of the last axis, and 1 at least; masked scores do not count.
float magnitude_of(std::span<const float> row, bool scores) {
  float magnitude = 1;
  const float top = scores ? largest_score(row) : 0;
  for (const float value : row)
    if (std::isfinite(value) && !(scores && is_masked_score(value, top)))
      magnitude = std::max(magnitude, std::abs(value));
  return magnitude;
}

ComparedArray compare_array(const std::string& name, const Array& expected, const Array& found, float tolerance) {
  ComparedArray result{.name = name, .expected_shape = expected.shape, .found_shape = found.shape};
  const std::string kind = parse_array_name(name).kind;
  if (axes_of(kind).empty() && !result.same_shape()) {
    result.expected_shape = without_leading_ones(expected.shape);
    result.found_shape = without_leading_ones(found.shape);
  }
  result.tolerance = tolerance;
  if (!result.same_shape() || expected.values.empty()) return result;
  assert(expected.values.size() == found.values.size());
  const bool scores = kind == "scores", absolute = kind == "attentions";
  const std::size_t columns = expected.shape.empty() ? 1 : static_cast<std::size_t>(expected.shape.back());
  struct Largest {
    std::size_t at = 0;
    float difference = -1, tolerance = 0;
  };
  Largest of_equal, of_different;
  std::optional<std::size_t> first;
  for (std::size_t begin = 0; begin < expected.values.size(); begin += columns) {
    const std::span<const float> a(expected.values.data() + begin, columns), b(found.values.data() + begin, columns);
    const float top_a = scores ? largest_score(a) : 0, top_b = scores ? largest_score(b) : 0;
    const float allowed = absolute ? tolerance : tolerance * magnitude_of(a, scores);
    for (std::size_t i = 0; i < columns; ++i) {
      if (scores && is_masked_score(a[i], top_a) && is_masked_score(b[i], top_b)) continue;
      const float difference = apart(a[i], b[i]);
      if (difference > allowed && !first) first = begin + i;
      Largest& largest = difference > allowed ? of_different : of_equal;
      if (difference > largest.difference) largest = {begin + i, difference, allowed};
    }
  }
  const auto cell = [&](std::size_t i) {
    return ComparedCell{indices(i, result.expected_shape), expected.values[i], found.values[i]};
  };
  const Largest& largest = first ? of_different : of_equal;
  if (largest.difference < 0) return result;  // everything is masked
  result.largest = cell(largest.at);
  result.tolerance = largest.tolerance;
  if (first) result.first = cell(*first);
  return result;
}

/// The last of the hidden states, where it is this file's last hidden state or the other's is: both are then that state
/// behind the final norm, and whichever is before the norm is replaced by it. Empty: nothing to replace.
std::optional<Array> behind_norm(const std::string& name, const Array& states, const ExportFile& file,
                                 const Array& other, float tolerance) {
  const ArrayName parts = parse_array_name(name);
  if (parts.kind != "hidden_states" || states.shape != other.shape || states.shape.size() < 3) return std::nullopt;
  const std::string sentence = parts.sentence ? std::to_string(*parts.sentence) + "." : "";
  const std::string stack = parts.stack == "decoder_" ? "" : parts.stack;
  const Array* last = find_array(file.arrays, sentence + stack + "last_hidden_state");
  if (!last || last->values.empty()) return std::nullopt;
  const std::size_t size = last->values.size();
  if (size > states.values.size() || states.values.size() % size != 0) return std::nullopt;
  const std::size_t begin = states.values.size() - size;
  float magnitude = 1;
  for (const float value : last->values)
    if (std::isfinite(value)) magnitude = std::max(magnitude, std::abs(value));
  // The other file's last state is this file's behind the norm.
  for (std::size_t i = 0; i < size; ++i)
    if (apart(other.values[begin + i], last->values[i]) > tolerance * magnitude) return std::nullopt;
  Array replaced = states;
  std::copy(last->values.begin(), last->values.end(), replaced.values.begin() + static_cast<std::ptrdiff_t>(begin));
  return replaced;
}

/// One array of both files; states on two sides of the final norm are compared behind it.
ComparedArray compare_states(const std::string& name, const ExportFile& expected, const ExportFile& found,
                             float tolerance) {
  const Array &a = expected.arrays.at(name), &b = found.arrays.at(name);
  ComparedArray plain = compare_array(name, a, b, tolerance);
  if (plain.equal()) return plain;
  const auto a_behind = behind_norm(name, a, expected, b, tolerance);
  const auto b_behind = a_behind ? std::nullopt : behind_norm(name, b, found, a, tolerance);
  if (!a_behind && !b_behind) return plain;
  ComparedArray behind = compare_array(name, a_behind ? *a_behind : a, b_behind ? *b_behind : b, tolerance);
  behind.norm_apart = true;
  return behind;
}

std::string quoted_word(const std::vector<std::string>& words, Index at) {
  const bool known = static_cast<std::size_t>(at) < words.size();
  return known ? " '" + printable(words[static_cast<std::size_t>(at)]) + "'" : std::string();
}

}  // namespace

float tolerance_of(std::string_view dtype) {
  if (dtype == "float16") return std::strtof(kFloat16Tolerance, nullptr);
  if (dtype == "bfloat16") return std::strtof(kBfloat16Tolerance, nullptr);
  return dtype == "tf32" ? 2e-3f : kCompareTolerance;
}

float ComparedCell::difference() const { return apart(expected, found); }

FileComparison compare(const ExportFile& expected, const ExportFile& found, float tolerance) {
  FileComparison comparison{.tolerance = tolerance};
  for (const auto& [name, array] : expected.arrays) {
    const auto other = found.arrays.find(name);
    if (other != found.arrays.end()) comparison.arrays.push_back(compare_states(name, expected, found, tolerance));
    else if (expected.own_answers) comparison.only_a.push_back(name);
  }
  for (const auto& [name, array] : found.arrays)
    if (found.own_answers && !expected.arrays.contains(name)) comparison.only_b.push_back(name);
  std::sort(comparison.arrays.begin(), comparison.arrays.end(),
            [](const auto& a, const auto& b) { return station(a.name, 0) < station(b.name, 0); });

  const auto parts_at = [&](std::size_t i) {
    const ComparedArray& array = comparison.arrays[i];
    return station(array.name, array.first ? layer_of(array.name, array.first->at) : 0);
  };
  for (std::size_t i = 0; i < comparison.arrays.size(); ++i)
    if (!comparison.arrays[i].equal() && (!comparison.first || parts_at(i) < parts_at(*comparison.first)))
      comparison.first = i;
  return comparison;
}

Bilingual cell_text(std::string_view array, const std::vector<Index>& at, const ExportFile& expected,
                    const ExportFile& found) {
  const ArrayName parts = parse_array_name(array);
  const auto axes = axes_of(parts.kind);
  const std::string sentence = parts.sentence ? std::to_string(*parts.sentence) + "." : "";
  AxisTexts words;
  for (const ExportFile* file : {&expected, &found}) {
    // An array of an encoder-decoder without a stack in its name is the decoder's.
    const bool decoders = parts.stack.empty() && file->words.contains(sentence + "decoder_");
    const auto known = file->words.find(sentence + (decoders ? "decoder_" : parts.stack));
    if (known == file->words.end()) continue;
    if (words.queries.empty()) words.queries = known->second.queries;
    if (words.keys.empty()) words.keys = known->second.keys;
  }
  if (axes.size() != at.size()) return shape_text(at);
  std::vector<Bilingual> named;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis] == "layer" && axis + 1 < axes.size() && axes[axis + 1] == "head") {
      named.emplace_back(head_label({at[axis], at[axis + 1]}));
      ++axis;
      continue;
    }
    const bool of_query = axes[axis] == "query" || axes[axis] == "token";
    const std::string word = of_query              ? quoted_word(words.queries, at[axis])
                             : axes[axis] == "key" ? quoted_word(words.keys, at[axis])
                                                   : "";
    const Bilingual name = translated(axes[axis]);
    const std::string number = " " + std::to_string(at[axis]) + word;
    named.emplace_back(name.en + number, name.zh + number);
  }
  return joined(named, headlight::words(phrases::comma));
}

}  // namespace headlight
