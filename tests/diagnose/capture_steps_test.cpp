// Masks that were given, and what the steps of scores and weights do to cells.
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
