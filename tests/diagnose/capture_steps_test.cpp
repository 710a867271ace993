// Masks that were given, and what the steps of scores and weights do to cells.
#include <numeric>

#include "diagnose/capture/capture_masks.h"
#include "diagnose/captured.h"

namespace headlight {
namespace {

using namespace captured;

TEST(Capture, AMaskArgumentFitsInSomeOrderOfItsAxes) {
  const Attention right = causal_attention(), open = causal_attention([](Attention&a) { a.allowed = Table(7, 7, 1); });
  for (const std::vector<Index>& shape : {std::vector<Index>{7, 7}, {7, 7, 1}, {1, 7, 7}, {7, 7, 1, 1}, {7, 7, 2, 1}}) {
    Captured file(right, open);
    file.facts += R"(,"arguments":[["mask","0"]])";
    file.arrays["0.argument.0"] = array_of({7, 7}, {right.allowed});
    file.arrays["0.argument.0"].shape = shape;
    const bool large = shape.size() == 4 && shape[2] == 2;
    if (large) file.arrays["0.argument.0"].values.resize(98);
    EXPECT_EQ(file.named(), large ? "" : "mask_missing");
  }
}

/// A sink takes a share of each row: without it the weights sum to 1, and the output is theirs.
TEST(Capture, WithoutTheSinkTheOutputIsThatOfTheWeightsThatAreLeft) {
  constexpr Index kHeads = 2, kQueries = 3, kKeys = 4, kWidth = 2;
  Random random(3);
  Array weights{.dtype = Dtype::f32, .shape = {1, kHeads, kQueries, kKeys}, .values = {}};
  Array output{.dtype = Dtype::f32, .shape = {1, kQueries, kHeads * kWidth}, .values = {}};
  output.values.resize(kQueries * kHeads * kWidth);
  std::vector<float> expected = output.values;
  for (Index head = 0; head < kHeads; ++head)
    for (Index query = 0; query < kQueries; ++query) {
      float sum = 0;
      for (Index key = 0; key < kKeys; ++key) {
        weights.values.push_back(query == 2 ? 0 : 0.2f * random.uniform());
        sum += weights.values.back();
      }
      for (Index column = 0; column < kWidth; ++column)
        for (Index key = 0; key < kKeys; ++key) {
          const float value = static_cast<float>(key + 1) * static_cast<float>(column + head + 1);
          const float added = weights.values[weights.values.size() - kKeys + static_cast<std::size_t>(key)] * value;
          const auto at = static_cast<std::size_t>((query * kHeads + head) * kWidth + column);
          output.values[at] += added;
          if (sum > 0) expected[at] += added / sum;
        }
    }
  CapturedCall call;
  call.arrays = {{"attentions", weights}, {"output", output}};
  call.heads = kHeads;
  leave_out_sinks(call);
  for (Index row = 0; row < kHeads * kQueries; ++row) {
    const float* first = call.array("attentions")->values.data() + row * kKeys;
    EXPECT_NEAR(std::accumulate(first, first + kKeys, 0.0f), row % kQueries == 2 ? 0 : 1, 1e-6);
  }
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(call.array("output")->values[i], expected[i], 1e-5);
}

TEST(Capture, WhatStepsDoToCellsIsNamedWithItsStep) {
  const Attention right = causal_attention();
  const auto judged = [&](const std::vector<std::pair<std::string, Table>>& steps, const Attention& ran) {
    Captured file(right, ran);
    std::string facts;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      facts += (i > 0 ? "," : "") + steps[i].first;
      file.arrays["0.step." + std::to_string(i)] = array_of({1, 1, 7, 7}, {steps[i].second});
    }
    file.facts += ",\"scale\":0.5,\"steps\":[" + facts + "]";
    return file.judged();
  };
  Table hidden = right.allowed, lowered(7, 7);
  for (std::size_t i = 0; i < hidden.values.size(); ++i) {
    hidden.values[i] = hidden.values[i] == 0 ? 1 : 0;
    lowered.values[i] = -2 * hidden.values[i];
  }
  const std::string fill = R"(["fill","-inf","-inf",""])";
  EXPECT_TRUE(judged({{fill, hidden}}, right).mistakes.empty());
  const Attention weak = causal_attention([&](Attention& a) {
    a.allowed = Table(7, 7, 1);
    a.added = lowered;
  });
  const auto of_weak = judged({{R"(["add","1","1",""])", lowered}, {R"(["times","1","1",""])", Table(7, 7, 1)}}, weak);
  ASSERT_EQ(of_weak.mistakes.size(), 1u);
  EXPECT_EQ(of_weak.mistakes[0].mistake.text.en, "blocked scores are -2 lower, in place of -inf");
  EXPECT_EQ(of_weak.mistakes[0].mistake.role, "step.0");
  ASSERT_EQ(of_weak.unchecked.size(), 1u);
  EXPECT_EQ(of_weak.unchecked[0].en, "mine.py:4: scale: learned: taken as given");
  const Attention late = causal_attention([](Attention& a) { a.mask_after = true; });
  const auto after = judged({{R"(["after times","1","1",""])", right.allowed}}, late);
  ASSERT_EQ(after.mistakes.size(), 1u);
  EXPECT_EQ(after.mistakes[0].mistake.code, mistakes::mask_after_softmax);
  const auto unknown = judged({{fill, hidden}, {R"(["times","1","1",""])", alibi(0.5)}}, right);
  ASSERT_EQ(unknown.notes.size(), 1u);
  EXPECT_EQ(unknown.notes[0].en, "mine.py:4: scores are multiplied by an array, which is not judged");
}

}  // namespace
}  // namespace headlight
