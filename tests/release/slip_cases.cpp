#include "release/slip_cases.h"

#include <algorithm>
#include <cmath>

namespace headlight::mistaken {
namespace {

using enum Held;
using ChangeOfCase = std::function<void(Attention&)>;

const std::vector<Held> kAll{weights, scores, scores_and_weights, projected, answers, output, everything};
const std::vector<Held> kDirect{projected, answers, output, everything};
const std::vector<Held> kInputs{answers, output, everything};
const std::vector<Held> kWithWeights{weights, scores_and_weights, projected, answers, output, everything};

bool in(const std::vector<Held>& list, Held held) { return std::find(list.begin(), list.end(), held) != list.end(); }

double root(const Attention& a) { return std::sqrt(static_cast<double>(a.d_k)); }

/// A right attention under one of the masks.
Attention under(const std::string& mask, std::uint64_t seed, std::size_t t, std::size_t h, std::size_t d,
                std::size_t g) {
  Attention a(seed, t, h, d, g);
  if (mask == "causal" || mask == "both") a.causal();
  if (mask == "padding" || mask == "both") a.pad(2);
  if (mask == "bias") a.add_bias();
  return a;
}

bool is_mask_for(const std::string& mask, const std::string& needs, std::size_t heads, std::size_t groups) {
  if (needs == "groups") return groups < heads;
  if (needs == "square") return groups == heads;
  if (needs == "mask") return mask != "none" && mask != "bias";
  if (needs == "open") return mask == "none" || mask == "padding";
  return needs.empty() || mask == needs;
}

void round_to(Array& array, Dtype dtype) {
  array.dtype = dtype;
  for (float& value : array.values) {
    const auto exact = static_cast<double>(value);
    value = static_cast<float>(dtype == Dtype::f16 ? as_float16(exact) : as_bfloat16(exact));
  }
}

std::map<std::string, Array> answers_in(const Attention& a, Held held) {
  std::map<std::string, Array> arrays;
  if (held != scores && held != output) arrays["attentions"] = attentions_of(a);
  if (held == scores || held == scores_and_weights || held == projected || held == everything)
    arrays["scores"] = of_heads(a.scores);
  if (held == projected || held == everything)
    arrays["queries"] = of_heads(a.parts[0]), arrays["keys"] = of_heads(a.parts[1]);
  if (held == everything) arrays["values"] = of_heads(a.parts[2]);
  if (in(kInputs, held)) arrays["output"] = of_table(a.output);
  else arrays["hidden_states"] = array_of({1, static_cast<Index>(a.tokens), static_cast<Index>(a.x.cols)}, {a.x});
  return arrays;
}

/// The two files; `exact`: how the wrong one's numbers are stored.
std::pair<ExportFile, ExportFile> files_of(const Attention& right, const Attention& wrong, Held held, Dtype exact) {
  auto found = answers_in(wrong, held);
  for (auto& [name, array] : found)
    if (exact != Dtype::f32 && name != "hidden_states") round_to(array, exact);
  auto mine = in(kInputs, held) ? inputs_of(right) : answers_in(right, held);
  return {file_of(std::move(mine), {{"num_heads", std::to_string(right.heads)}}), file_of(std::move(found))};
}

struct ShapeOfCase {
  std::size_t tokens, heads, d_k, groups;
};
constexpr ShapeOfCase kShapes[] = {{7, 3, 4, 3}, {9, 2, 5, 2}, {6, 4, 3, 2}, {11, 4, 8, 4}};
constexpr Dtype kDtypes[] = {Dtype::f32, Dtype::f32, Dtype::f16, Dtype::f32, Dtype::bf16};

struct Maker {
  const std::function<void(const Case&)>& use;
  std::uint64_t count = 0;

  /// Makes `change` only in some heads where `heads` is true.
  void make(const std::string& name, const std::vector<std::string>& codes, bool must, const std::string& mask,
            Held held, const ShapeOfCase& shape, Dtype dtype, const ChangeOfCase& change, bool some_heads = false) {
    const auto& [t, h, d, g] = shape;
    const std::uint64_t seed = 1 + ++count % 17;
    Attention right = under(mask, seed, t, h, d, g), wrong = right;
    change(wrong);
    if (some_heads)
      wrong.first_head = count % h, wrong.last_head = wrong.first_head + (h > 3 ? 1 : 0),
      wrong.right_allowed = right.allowed;
    right.run();
    wrong.run();
    Case one{.name = name + ", " + mask + ", " + std::to_string(static_cast<int>(held)) + ", " + std::to_string(seed),
             .codes = codes,
             .must = must,
             .in_heads = some_heads};
    std::tie(one.right, one.wrong) = files_of(right, wrong, held, Dtype::f32);
    // What the arrays do not show is no mistake in them.
    if (compare(one.right, one.wrong).equal()) one.codes.clear(), one.rounded = dtype != Dtype::f32;
    one.must = one.must || one.codes.empty();
    if (dtype != Dtype::f32) std::tie(one.right, one.wrong) = files_of(right, wrong, held, dtype);
    one.reversed = !in(kInputs, held) && count % 4 == 0;
    use(one);
  }

  /// Two slips; where one of them changes nothing beside the other, the other is what is to be named.
  void make_pair(const PlantedSlip& a, const PlantedSlip& b, bool must, const std::string& mask, Held held,
                 const ShapeOfCase& shape) {
    const auto changed = [&](bool first, bool second) {
      Attention one = under(mask, 1 + (count + 1) % 17, shape.tokens, shape.heads, shape.d_k, shape.groups);
      if (first) a.make(one);
      if (second) b.make(one);
      one.run();
      return answers_in(one, held);
    };
    const ExportFile both = file_of(changed(true, true));
    std::vector<std::string> codes;
    if (!compare(file_of(changed(false, true)), both).equal()) codes.push_back(a.code);
    if (!compare(file_of(changed(true, false)), both).equal()) codes.push_back(b.code);
    make(a.code + " + " + b.code, codes, must, mask, held, shape, Dtype::f32,
         [&](Attention& one) { a.make(one), b.make(one); });
  }
};

/// Whether two slips cannot be separated: without a softmax the weights are the scores, times the factor of `a`.
bool are_one(const PlantedSlip& a, const PlantedSlip& b) {
  return (a.code == "scale_constant" || a.code.starts_with("scale_")) && b.code == "softmax_missing";
}

void each_single(Maker& maker) {
  std::size_t turn = 0;
  for (const PlantedSlip& slip : planted_slips())
    for (const char* mask : {"none", "causal", "padding", "both", "bias"})
      for (int held = 0; held < kHeld; ++held)
        for (int round = 0; round < 2; ++round) {
          const ShapeOfCase& shape =
              slip.needs == std::string("groups") ? kShapes[2] : kShapes[turn % std::size(kShapes)];
          const Dtype dtype = kDtypes[turn++ % std::size(kDtypes)];
          if (!is_mask_for(mask, slip.needs, shape.heads, shape.groups)) continue;
          const auto arrays = static_cast<Held>(held);
          // A bias is part of scores and of weights, and cannot be distinguished from them without the inputs.
          const bool hidden = mask == std::string("bias") && !in(kInputs, arrays);
          const bool must = dtype == Dtype::f32 && in(slip.seen_in, arrays) && !hidden;
          maker.make(slip.code, {slip.code}, must, mask, arrays, shape, dtype, slip.make);
        }
}

void each_in_heads(Maker& maker) {
  for (const PlantedSlip& slip : planted_slips())
    for (const char* mask : {"none", "causal", "padding"})
      for (const Held held : {weights, projected, answers, output, everything})
        if (slip.in_heads && is_mask_for(mask, slip.needs, 3, 3))
          maker.make(slip.code + " in heads", {slip.code}, in(slip.seen_in, held), mask, held,
                     held == weights ? kShapes[3] : kShapes[0], Dtype::f32, slip.make, true);
}

void each_pair(Maker& maker) {
  const auto all = planted_slips();
  std::size_t turn = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j)
      for (const char* mask : {"none", "causal"}) {
        const PlantedSlip &a = all[i], &b = all[j];
        const Held held = turn++ % 2 == 0 ? answers : everything;
        if (a.part == b.part || are_one(a, b) || !is_mask_for(mask, a.needs, 3, 3) || !is_mask_for(mask, b.needs, 3, 3))
          continue;
        const bool must = in(a.seen_in, held) && in(b.seen_in, held);
        maker.make_pair(a, b, must, mask, held, kShapes[turn % 2]);
      }
}

/// Files that differ and hold no mistake of the table.
void each_stranger(const std::function<void(const Case&)>& use) {
  std::uint64_t seed = 100;
  for (const char* mask : {"none", "causal", "padding", "both", "bias"})
    for (int held = 0; held < kHeld; ++held)
      for (int kind = 0; kind < 9; ++kind)
        for (const ShapeOfCase& shape : {kShapes[0], kShapes[1], kShapes[2]}) {
          const auto& [t, h, d, g] = shape;
          Attention right = under(mask, ++seed, t, h, d, g);
          right.run();
          Attention wrong = right;
          Random random(seed);
          const auto noise = [&](double size) { return static_cast<double>(random.symmetric(1)) * size; };
          const double size = kind == 0 ? 1e-3 : kind == 1 ? 0.1 : 1e-4;
          if (kind < 3)
            for (std::size_t head = 0; head < h; ++head)
              for (std::size_t i = 0; i < t * t; ++i) {
                wrong.scores[head].values[i] += std::isfinite(wrong.scores[head].values[i]) ? noise(size) : 0;
                if (wrong.weights[head].values[i] > 0) wrong.weights[head].values[i] += std::abs(noise(size));
              }
          // Scores alone are wrong, under right weights.
          if (kind == 3)
            for (Table& head : wrong.scores)
              for (double& score : head.values) score += std::isfinite(score) ? noise(1) : 0;
          if (kind == 4) wrong = under(mask, seed + 5000, t, h, d, g), wrong.run();
          if (kind == 5) wrong.weights[0](t - 1, 0) *= 0.5, wrong.scores[0](t - 1, 0) += 1;
          if (kind == 6)
            std::swap(wrong.weights[0].values[0], wrong.weights[0].values[1]), wrong.scores[0].values[0] += 0.5;
          for (double& cell : wrong.output.values) cell += kind < 8 && kind != 3 ? noise(0.05) : 0;
          Case one{.name = "stranger " + std::to_string(kind) + ", " + mask + ", " + std::to_string(held), .codes = {}};
          const Dtype dtype = kind == 8 ? (seed % 2 == 0 ? Dtype::f16 : Dtype::bf16) : Dtype::f32;
          one.rounded = kind == 8;
          std::tie(one.right, one.wrong) = files_of(right, wrong, static_cast<Held>(held), dtype);
          use(one);
        }
}

std::vector<std::string> codes_of(const Verdict& verdict) {
  std::vector<std::string> codes;
  for (const auto& mistake : verdict.mistakes) codes.emplace_back(mistake.code.name);
  std::sort(codes.begin(), codes.end());
  return codes;
}

}  // namespace

std::size_t family_of(std::string_view code) {
  const std::vector<std::vector<std::string_view>> starts{
      {"scale", "query_already"},
      {"softmax", "dropout", "weights_scaled", "weights_averaged"},
      {"mask", "causal", "padding", "diagonal", "blocked", "empty", "cache", "window", "bias_sign"},
      {"heads_", "query_key", "groups"},
      {"projection_", "roles"},
      {"merge", "weights_transposed", "value"}};
  for (std::size_t family = 0; family < starts.size(); ++family)
    for (const std::string_view start : starts[family])
      if (code.starts_with(start)) return family;
  return code == "rounding" ? kRounding : kNone;
}

std::vector<PlantedSlip> planted_slips() {
  std::vector<PlantedSlip> all;
  const auto add = [&](const char* code, std::size_t part, const std::vector<Held>& seen, ChangeOfCase make,
                       const char* needs = "", bool in_heads = false) {
    all.push_back({code, std::move(make), seen, needs, in_heads, part});
  };
  enum : std::size_t { kScale, kSoftmax, kMask, kSides, kSplit, kProjection, kMerge, kContext };
  add(
      "scale_missing", kScale, kAll, [](Attention& a) { a.scale = 1; }, "", true);
  add(
      "scale_inverted", kScale, kAll, [](Attention& a) { a.scale = root(a); }, "", true);
  add(
      "scale_by_d_k", kScale, kAll, [](Attention& a) { a.scale /= root(a); }, "", true);
  add("scale_by_d_model", kScale, kAll, [](Attention& a) { a.scale /= std::sqrt(static_cast<double>(a.heads)); });
  add(
      "scale_constant", kScale, {weights, scores, scores_and_weights, projected, answers, everything},
      [](Attention& a) { a.scale *= 1.35; }, "", true);
  // Under padding whole columns are blocked, and an output has no number.
  add("softmax_axis", kSoftmax, {weights, scores_and_weights, projected, answers, everything},
      [](Attention& a) { a.softmax_axis = 1; });
  add(
      "softmax_axis", kSoftmax, kWithWeights, [](Attention& a) { a.softmax_axis = 0; }, "none");
  add(
      "softmax_missing", kSoftmax, kWithWeights, [](Attention& a) { a.no_softmax = true; }, "none");
  add(
      "softmax_twice", kSoftmax, kWithWeights, [](Attention& a) { a.twice = true; }, "", true);
  add(
      "softmax_replaced", kSoftmax, {weights, scores_and_weights, projected}, [](Attention& a) { a.logarithm = true; },
      "none");
  add("softmax_replaced", kSoftmax, kDirect, [](Attention& a) { a.sigmoid = true; });
  add("weights_averaged", kSoftmax, kWithWeights, [](Attention& a) { a.averaged = true; });
  add("weights_scaled", kSoftmax, {weights, scores_and_weights, projected, answers, everything},
      [](Attention& a) { a.weights_factor = 0.6; });
  add("dropout_left_on", kSoftmax, {weights, scores_and_weights, projected, answers, everything},
      [](Attention& a) { a.dropout = 0.25; });
  add(
      "mask_missing", kMask, kAll, [](Attention& a) { a.open(); }, "causal", true);
  add(
      "mask_missing", kMask, kAll, [](Attention& a) { a.open(); }, "padding");
  add(
      "mask_missing", kMask, kDirect, [](Attention& a) { a.bias_factor = 0; }, "bias");
  add(
      "bias_sign", kMask, kInputs, [](Attention& a) { a.bias_factor = -1; }, "bias");
  for (const char* mask : {"causal", "padding"})
    add(
        "mask_inverted", kMask, kAll, [](Attention& a) { a.invert(); }, mask);
  add(
      "mask_transposed", kMask, kAll, [](Attention& a) { a.allowed = transposed(a.allowed); }, "causal", true);
  add(
      "mask_off_by_one", kMask, kAll, [](Attention& a) { a.shift(-1); }, "causal");
  add(
      "mask_off_by_one", kMask, kAll, [](Attention& a) { a.shift(1); }, "causal", true);
  add(
      "mask_off_by_one", kMask, kAll, [](Attention& a) { a.shift(1); }, "padding");
  add(
      "causal_mask_missing", kMask, kAll, [](Attention& a) { a.open(), a.pad(2); }, "both");
  add(
      "padding_mask_missing", kMask, kAll, [](Attention& a) { a.open(), a.causal(); }, "both");
  add(
      "diagonal_blocked", kMask, kAll,
      [](Attention& a) {
        for (std::size_t i = 0; i < a.tokens; ++i) a.allowed(i, i) = 0;
      },
      "open");
  add(
      "mask_after_softmax", kMask, kWithWeights, [](Attention& a) { a.mask_after = true; }, "mask");
  add(
      "blocked_scores_weak", kMask, kWithWeights, [](Attention& a) { a.blocked = 0; }, "mask");
  add(
      "blocked_scores_weak", kMask, {projected, answers, everything}, [](Attention& a) { a.blocked = -2; }, "mask");
  add(
      "mask_added_as_numbers", kMask, kDirect, [](Attention& a) { a.mask_as_numbers = true; }, "mask");
  add(
      "query_key_swapped", kSides, kDirect, [](Attention& a) { a.swapped = true; }, "", true);
  add("heads_interleaved", kSplit, kInputs, [](Attention& a) { a.split[0] = a.split[1] = a.split[2] = 1; });
  add("heads_reshaped", kSplit, kInputs, [](Attention& a) { a.split[0] = a.split[1] = a.split[2] = 2; });
  add("heads_interleaved", kSplit, kInputs, [](Attention& a) { a.split[2] = 1; });
  add("heads_reshaped", kSplit, kInputs, [](Attention& a) { a.split[0] = 2; });
  add(
      "groups_in_blocks", kSides, kDirect, [](Attention& a) { a.in_turn = true; }, "groups");
  for (const int which : {0, 1, 2, 3})
    add(
        "projection_not_transposed", kProjection, kInputs, [which](Attention& a) { a.not_transposed[which] = true; },
        which == 1 || which == 2 ? "square" : "");
  for (const int which : {0, 2, 3})
    add("projection_bias_missing", kProjection, kInputs, [which](Attention& a) { a.no_bias[which] = true; });
  add("projection_missing", kProjection, kInputs, [](Attention& a) { a.left_out[3] = true; });
  add("projection_missing", kProjection, kInputs, [](Attention& a) { a.left_out[0] = true; });
  add("value_from_key", kProjection, kInputs, [](Attention& a) { a.projected_by[2] = 1; });
  add(
      "roles_swapped", kProjection, kInputs, [](Attention& a) { a.projected_by[1] = 2, a.projected_by[2] = 1; },
      "square");
  add("merge_not_transposed", kMerge, kInputs, [](Attention& a) { a.merge = 2; });
  add("merge_columns_mixed", kMerge, kInputs, [](Attention& a) { a.merge = 1; });
  add("weights_transposed", kContext, kInputs, [](Attention& a) { a.weights_transposed = true; });
  return all;
}

void for_each_case(const std::function<void(const Case&)>& use) {
  Maker maker{use};
  each_single(maker);
  each_in_heads(maker);
  each_pair(maker);
  each_stranger(use);
}

Said said_of(const Case& one) {
  const Examination answer = one.reversed ? examine(one.wrong, one.right, kCompareTolerance, RightSide::b)
                                          : examine(one.right, one.wrong, kCompareTolerance);
  Said said;
  said.equal = answer.comparison.equal();
  std::vector<std::string> made = one.codes;
  std::sort(made.begin(), made.end());
  if (answer.diagnosis.rounding) {
    said.family = kRounding;
    said.codes = {"rounding"};
    said.right = one.rounded;
    return said;
  }
  if (answer.diagnosis.verdicts.empty()) {
    said.right = made.empty() && !one.rounded;
    return said;
  }
  said.codes = codes_of(answer.diagnosis.verdicts.front());
  said.family = family_of(said.codes.front());
  for (const Verdict& verdict : answer.diagnosis.verdicts)
    said.right = said.right || (codes_of(verdict) == made && verdict.heads.empty() != one.in_heads);
  return said;
}

}  // namespace headlight::mistaken
