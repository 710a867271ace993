// Numbers that are no weights, and keys that are places: what arrays of other programs hold beside attention.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heads/head_measures.h"
#include "heads/reduce.h"
#include "heads/weight_maps.h"
#include "math/attention.h"
#include "math/forward.h"
#include "read/external/held_arrays.h"
#include "read/external/mask_file.h"
#include "read/external/patterns.h"

namespace headlight {
namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN(), kBelowAll = -std::numeric_limits<float>::infinity();

Array brought_array(std::vector<Index> shape, std::vector<float> values) {
  return {.dtype = Dtype::f32, .shape = std::move(shape), .values = std::move(values)};
}

TensorsFile brought(Array array, const ArrayChoice& choice = {}) {
  auto file = tensors_from("f", {{{"array", std::move(array)}}, {}}, std::nullopt, choice);
  EXPECT_TRUE(file) << (file ? "" : file.error().message());
  return file ? *std::move(file) : TensorsFile{};
}

std::shared_ptr<const Trace> answer_to_brought(const TensorsFile& file, const MaskSpec& mask = {}) {
  auto trace = forward(Request{.model = file.model, .mask = mask});
  EXPECT_TRUE(trace) << (trace ? "" : trace.error().message());
  return trace ? *trace : nullptr;
}

bool brought_warns(const TensorsFile& file, const std::string& words) {
  for (const Error& warning : file.warnings)
    if (warning.message().find(words) != std::string::npos) return true;
  return false;
}

TEST(BroughtNumbers, NaNCountsAsNothingIsShownAsBlockedAndIsNamed) {
  const TensorsFile file =
      brought(brought_array({2, 2, 2}, {0.25f, 0.75f, kNothing, 0.5f, 1, 0, 0.5f, 0.5f}), {.sentence = 0});
  EXPECT_TRUE(
      brought_warns(file,
                    "attentions sentence 0: 1 NaN in 1 row (the first, L0·H0 query 1 key 0): counted as 0, and hatched "
                    "in figures and the window"));
  const auto trace = answer_to_brought(file);
  EXPECT_FALSE(trace->is_signed);
  EXPECT_EQ(trace->head({0, 0}).thumbnail, (Matrix(2, 2) << 0.25f, 0.75f, -1, 0.5f).finished());
  EXPECT_EQ(attention_rows(*trace, {0, 0}, 1, 1)(0, 0), 0);
  EXPECT_TRUE(is_missing(*trace, {0, 0}, {1, 0}));
  EXPECT_FALSE(is_missing(*trace, {0, 0}, {1, 1}));
  EXPECT_EQ(region_weights(*trace, {.num_queries = 2, .num_keys = 2}, 1, kNeverStops)(0, 0), 0.75f);
  EXPECT_EQ(region_weights(*trace, {.first_query = 1, .num_queries = 1, .num_keys = 1}, 1, kNeverStops)(0, 0), -1);
}

TEST(BroughtNumbers, InfinityIsRefusedByItsPlace) {
  const auto file = tensors_from("f", {{{"array", brought_array({2, 2}, {1, 0, INFINITY, 0})}}, {}}, std::nullopt, {});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message(), "f: attentions: L0·H0 query 1 key 0: expected a finite number, found inf");
}

TEST(BroughtNumbers, NumbersBelowZeroAreSigned) {
  const Array array = brought_array({3, 3}, {1, -2, 0.5f, 0, -0.25f, 0.125f, 3, -4, kNothing});
  const TensorsFile file = brought(array);
  EXPECT_TRUE(brought_warns(file, "3 numbers below 0 (the first, L0·H0 query 0 key 1: -2)"));
  EXPECT_FALSE(brought_warns(file, "sum"));
  const auto trace = answer_to_brought(file);
  EXPECT_TRUE(trace->is_signed);
  EXPECT_EQ(trace->largest_weight, 4);
  const Matrix& map = trace->head({0, 0}).thumbnail;
  EXPECT_EQ(map, (Matrix(3, 3) << 1, -2, 0.5f, 0, -0.25f, 0.125f, 3, -4, kBelowAll).finished());
  EXPECT_EQ(region_weights(*trace, {.num_queries = 3, .num_keys = 3}, 1, kNeverStops)(0, 0), -4);
  EXPECT_EQ(why_no_rollout(*trace, Stack::self), MapUnavailable::below_zero);
  const auto masked = answer_to_brought(file, {.causal = true});
  EXPECT_EQ(masked->head({0, 0}).thumbnail,
            (Matrix(3, 3) << 1, kBelowAll, kBelowAll, 0, -0.25f, kBelowAll, 3, -4, kBelowAll).finished())
      << "numbers that are no shares are not scaled";
}

TEST(BroughtNumbers, NumbersBelowZeroHaveSumsAndMeansButNoLargestAndNoMeasures) {
  const TensorsFile file = brought(brought_array({2, 2, 2}, {-2, 0.5f, 1, kNothing, 1, 0.25f, -3, kNothing}),
                                   {.axes = {HeldAxis::heads, HeldAxis::queries, HeldAxis::keys}});
  const auto trace = answer_to_brought(file);
  ASSERT_TRUE(trace->is_signed);
  const auto summed = [&](ReduceBy by) {
    return reduced_maps({.traces = {trace.get()}, .by = {.by = by, .heads = true}});
  };
  EXPECT_EQ(reduced_rows(*summed(ReduceBy::mean), 0, 0, 2), (Matrix(2, 2) << -0.5f, 0.375f, -1, kBelowAll).finished());
  EXPECT_EQ(reduced_rows(*summed(ReduceBy::sum), 0, 0, 2), (Matrix(2, 2) << -1, 0.75f, -2, kBelowAll).finished());
  ASSERT_FALSE(summed(ReduceBy::max));
  EXPECT_EQ(summed(ReduceBy::max).error().message(),
            "--reduce: max: expected weights of at least 0 (mean and sum take others too), found numbers below 0");
  const auto measures = measure_heads(*trace, unwatched());
  for (const HeadMeasures& head : *measures)
    for (const Measure measure : kMeasures) EXPECT_FALSE(head[measure] || head.of_word(measure)) << name(measure);
}

TEST(BroughtNumbers, ThatAllAreZeroIsSaid) {
  EXPECT_TRUE(brought_warns(brought(brought_array({1, 2, 2}, {0, 0, 0, 0})), "attentions: all weights are 0"));
  EXPECT_FALSE(brought_warns(brought(brought_array({1, 2, 2}, {0, 0, 1, 0})), "all weights are 0"));
}

TEST(BroughtNumbers, TinyNumbersBelowZeroAreRounding) {
  const auto trace = answer_to_brought(brought(brought_array({1, 2}, {1, -1e-8f})));
  EXPECT_FALSE(trace->is_signed);
  EXPECT_EQ(trace->head({0, 0}).thumbnail(0, 1), 0);
  EXPECT_TRUE(answer_to_brought(brought(brought_array({1, 2}, {3e-7f, -1e-7f})))->is_signed)
      << "gradients are as small";
}

TEST(BroughtNumbers, AGridIsTheLastKeysRowAfterRow) {
  Array array = brought_array({7, 7}, std::vector<float>(49, 1.0f / 7));
  const ArrayChoice choice{.grid = *parse_grid("2x3")};
  const TensorsFile file = brought(array, choice);
  const ExternalStack& given = file.model->given->stacks.at(Stack::self);
  ASSERT_TRUE(given.key_tokens.picture);
  EXPECT_TRUE(given.query_tokens.picture);
  const PatchGrid& grid = given.key_tokens.picture->grid;
  EXPECT_EQ(grid.rows, 2);
  EXPECT_EQ(grid.cols, 3);
  EXPECT_EQ(grid.leading, std::vector<std::string>{"CLS"});
  EXPECT_EQ(given.key_tokens.tokens[1].text, "0,0");
  EXPECT_EQ(given.key_tokens.tokens[6].text, "1,2");
  array.shape = {1, 49};
  EXPECT_FALSE(brought(array, {.grid = *parse_grid("7x7")}).model->given->stacks.at(Stack::self).query_tokens.picture)
      << "queries that are none of its places";
  const auto small = tensors_from("f", {{{"array", array}}, {}}, std::nullopt, {.grid = *parse_grid("8x8")});
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().message(),
            "f: --grid: expected 8x8 = 64 keys, or more with class tokens before them, found 49");
  for (const char* text : {"", "3", "0x3", "3x", "3x3x3", "100000x100000", "-1x4"})
    EXPECT_FALSE(parse_grid(text)) << text;
}

TEST(BroughtNumbers, TrueBlocksTheOtherCells) {
  bool boolean = false;
  const auto mask = parse_json_mask("m", "[[true, false], [true, true]]", &boolean);
  ASSERT_TRUE(mask);
  EXPECT_TRUE(boolean);
  EXPECT_EQ(*with_true_blocking(*mask).given, (Matrix(2, 2) << kBelowAll, 0, kBelowAll, kBelowAll).finished());
  ASSERT_TRUE(parse_json_mask("m", "[[-1.5, 0.0]]", &boolean));
  EXPECT_FALSE(boolean) << "numbers that are added";
}

}  // namespace
}  // namespace headlight
