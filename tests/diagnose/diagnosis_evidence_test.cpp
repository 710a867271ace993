// What a diagnosis may take from the files: layers that it judges by themselves, a mask that is stated, scores that
// lead to the weights, and how much of a difference is rounding.
#include <gtest/gtest.h>

#include <cmath>

#include "diagnose/diagnosed.h"

namespace headlight::mistaken::evidence_test {
namespace {

/// The weights of two attentions as two layers.
ExportFile two_layers(const Attention& first, const Attention& second) {
  std::vector<Table> heads = first.weights;
  heads.insert(heads.end(), second.weights.begin(), second.weights.end());
  return file_of({{"attentions", array_of({2, 3, 7, 7}, heads)}, {"hidden_states", array_of({1, 7, 12}, {first.x})}});
}

Diagnosis diagnosis_of(const ExportFile& a, const ExportFile& b, float tolerance = kCompareTolerance) {
  return diagnose(a, b, compare(a, b, tolerance));
}

TEST(Diagnosis, AnotherLayerHasAMistakeWhereTheSameExplainsIt) {
  const auto unscaled = [](Attention& a) { a.scale = 1; };
  const auto [right, wrong] = sides_with(unscaled, causal, 4);
  const auto [right_of_1, wrong_of_1] = sides_with(unscaled, causal, 5);
  const auto [same, other] = sides_with([](Attention& a) { a.swapped = a.twice = true; }, causal, 5);
  const ExportFile a = two_layers(right, right_of_1);
  const auto both = diagnosis_of(a, two_layers(wrong, wrong_of_1));
  ASSERT_TRUE(both.named());
  EXPECT_EQ(both.line().en, kNoScale);
  EXPECT_EQ(both.first().layers, (std::vector<Index>{0, 1}));
  EXPECT_TRUE(both.unchecked.empty());
  const auto first = diagnosis_of(a, two_layers(wrong, other));
  ASSERT_TRUE(first.named());
  EXPECT_EQ(first.first().layers, (std::vector<Index>{0}));
  ASSERT_EQ(first.unchecked.size(), 1u);
  EXPECT_EQ(first.unchecked[0].en, "layer 1: not judged; what differs there may follow from layer 0");
  EXPECT_EQ(diagnosis_of(a, two_layers(wrong, right_of_1)).first().layers, (std::vector<Index>{0}));
}

/// A weight that is 0 though it is allowed: with the mask that the file states it is no hole in the mask.
TEST(Diagnosis, TheMaskThatAFileStatesIsTheMask) {
  const auto with_hole = [](Attention& a) {
    a.causal();
    a.added = Table(7, 7);
    a.added(4, 1) = -300;
  };
  const auto next = [](Attention& a) {
    for (std::size_t i = 0; i + 1 < 7; ++i) a.allowed(i, i + 1) = 1;
  };
  const auto [right, wrong] = sides_with(next, with_hole);
  const auto file = [](const Attention& a) {
    return file_of({{"attentions", attentions_of(a)}, {"scores", of_heads(a.scores)}});
  };
  ExportFile a = file(right);
  a.masks[""] = Matrix::Zero(7, 7);
  for (Index i = 0; i < 7; ++i)
    for (Index j = i + 1; j < 7; ++j) a.masks[""](i, j) = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(diagnosed(a, file(wrong)), "causal mask off by one: each query attends to the next token");
}

/// Scores of another place in the program, twice as large as those behind the weights.
TEST(Diagnosis, ScoresThatDoNotLeadToTheWeightsAreNotWhatTheyAreMadeOf) {
  const auto [right, wrong] = sides_with([](Attention& a) { a.scale = 1.5; }, causal);
  ExportFile a = weights_only(right), alone = a;
  std::vector<Table> scores = right.scores;
  for (Table& head : scores)
    for (double& score : head.values) score *= 2;
  a.arrays["scores"] = of_heads(scores);
  ASSERT_EQ(diagnosed(alone, weights_only(wrong)), "scores multiplied by 3: scale 1.5 in place of 1/sqrt(d_k)");
  EXPECT_EQ(diagnosed(a, weights_only(wrong)), "scores multiplied by 3: scale 1.5 in place of 1/sqrt(d_k)");
}

/// A sum of products in another order moves a weight by some 1e-7 of itself, not by 5e-5.
TEST(Diagnosis, AnotherOrderOfSumsMovesNoMoreThanTheLastDigits) {
  Attention right(4);
  right.causal();
  right.run();
  const auto file = [](const Attention& a) {
    return file_of(
        {{"attentions", attentions_of(a)}, {"queries", of_heads(a.parts[0])}, {"keys", of_heads(a.parts[1])}});
  };
  const auto moved_by = [&](double by) {
    Attention moved = right;
    for (Table& head : moved.weights)
      for (std::size_t i = 0; i < head.values.size(); ++i) head.values[i] *= 1 + (i % 2 == 0 ? by : -by);
    return diagnosis_of(file(right), file(moved), 1e-7f);
  };
  EXPECT_TRUE(moved_by(5e-7).rounding);
  EXPECT_FALSE(moved_by(5e-5).rounding);
}

/// Equal masks of the heads are one; under others the diagnosis says that it does not judge.
TEST(Diagnosis, AMaskOfEachHeadIsOneMaskOrNotJudged) {
  const auto [right, wrong] = sides_with([](Attention& a) { a.open(); }, causal);
  auto inputs = inputs_of(right);
  inputs["mask"].shape = {3, 7, 7};
  std::vector<float>& mask = inputs["mask"].values;
  const std::vector<float> one = mask;
  for (int head = 1; head < 3; ++head) mask.insert(mask.end(), one.begin(), one.end());
  const ExportFile same = file_of(inputs, {{"num_heads", "3"}});
  EXPECT_TRUE(compare(same, answers_of(right)).equal());
  EXPECT_EQ(diagnosed(same, answers_of(wrong)), "mask missing");
  EXPECT_TRUE(diagnosis_of(same, answers_of(wrong)).unchecked.empty());
  inputs["mask"].values[49 + 7] = 0;
  const Diagnosis open = diagnosis_of(file_of(inputs, {{"num_heads", "3"}}), answers_of(wrong));
  EXPECT_FALSE(open.named());
  ASSERT_EQ(open.unchecked.size(), 1u);
  EXPECT_EQ(open.unchecked[0].en, "mask of each head: not judged");
}

}  // namespace
}  // namespace headlight::mistaken::evidence_test
