// What a verdict rests on: which side is right, every array, all layers and heads; rounding and noise are no mistake.
#include <gtest/gtest.h>

#include <functional>

#include "diagnose/diagnosed.h"

namespace headlight::mistaken::verdict_test {
namespace {

TEST(Diagnosis, AIsBlamedOnlyWhereBMayBeRight) {
  auto [right, wrong] = sides_with([](Attention& a) { a.scale = 2; }, causal);
  const auto examined = [&, &right = right, &wrong = wrong](RightSide side) {
    return examine(weights_only(wrong), weights_only(right), kCompareTolerance, side);
  };
  EXPECT_EQ(examined(RightSide::a).diagnosis.line().en.substr(0, 2), "sc") << "divided by d_k, the other way round";
  EXPECT_FALSE(examined(RightSide::a).otherwise.named());
  EXPECT_EQ(examined(RightSide::b).diagnosis.line().en, "A: " + kInverse);
  EXPECT_EQ(examined(RightSide::either).otherwise.line().en, "A: " + kInverse);
  wrong.scale = 0.5;
  wrong.open();
  wrong.run();
  EXPECT_EQ(examined(RightSide::a).diagnosis.line().en, "");
  EXPECT_EQ(examined(RightSide::b).diagnosis.line().en, "A: mask missing");
}

TEST(Diagnosis, LaterLayersFollowFromTheFirst) {
  Attention right(4), wrong(4), other(5), another(6);
  wrong.scale = 1;
  for (Attention* a : {&right, &wrong, &other, &another}) a->run();
  const auto two_layers = [](const Attention& first, const Attention& second) {
    Array array = attentions_of(first);
    array.shape[0] = 2;
    const Array more = attentions_of(second);
    array.values.insert(array.values.end(), more.values.begin(), more.values.end());
    return file_of({{"attentions", array}, {"hidden_states", array_of({1, 7, 12}, {first.x})}});
  };
  const ExportFile a = two_layers(right, other), b = two_layers(wrong, another);
  EXPECT_EQ(diagnosed(a, b), kNoScale);
  EXPECT_EQ(diagnose(a, b, compare(a, b)).layer, 0);
  const ExportFile c = two_layers(other, right), d = two_layers(other, wrong);
  EXPECT_EQ(diagnosed(c, d), kNoScale);
  EXPECT_EQ(diagnose(c, d, compare(c, d)).layer, 1);
}

/// Inputs near 0, and no biases: the weights are nearly even, whatever the mistake.
Attention with_small_inputs(std::uint64_t seed, double size, const std::function<void(Attention&)>& change) {
  Attention attention(seed);
  for (double& value : attention.x.values) value = static_cast<double>(static_cast<float>(value * size));
  for (Table& bias : attention.bias) bias = Table(1, 12);
  change(attention);
  attention.run();
  return attention;
}

TEST(Diagnosis, SmallInputsHideNoMistake) {
  const auto swap = [](Attention& a) { a.swapped = true; };
  const auto unscaled = [](Attention& a) { a.scale = 1; };
  const auto open = [](Attention& a) { a.scale = 1, a.causal(); };
  const auto said = [](const ExportFile& a, const ExportFile& b) {
    EXPECT_TRUE(compare(a, b).equal()) << "the difference is below the tolerance";
    const Diagnosis diagnosis = hidden_mistake(a, b);
    return diagnosis.named() ? diagnosis.line().en : "none";
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Attention right = with_small_inputs(seed, 0.003, nothing);
    const ExportFile a = file_of(inputs_of(right), {{"num_heads", "3"}});
    EXPECT_EQ(said(a, answers_of(with_small_inputs(seed, 0.003, unscaled))), kNoScale) << seed;
    EXPECT_EQ(said(a, answers_of(with_small_inputs(seed, 0.003, swap))), "query and key swapped") << seed;
    const Attention wrong = with_small_inputs(seed, 0.003, unscaled);
    EXPECT_EQ(said(a, file_of({{"output", array_of({7, 12}, {wrong.output})}})), kNoScale) << seed;
    const ExportFile c = file_of(inputs_of(with_small_inputs(seed, 0.003, causal)), {{"num_heads", "3"}});
    EXPECT_EQ(said(c, answers_of(with_small_inputs(seed, 0.003, open))), kNoScale) << seed;
    Attention noisy = right;
    Random random(seed);
    for (Table& head : noisy.weights)
      for (double& weight : head.values) weight += 1e-5 * static_cast<double>(random.symmetric(1));
    EXPECT_EQ(said(a, answers_of(noisy)), "none") << seed;
    // In the scores alone the mistake is larger than what rounding does.
    const Attention tiny = with_small_inputs(seed, 2e-4, unscaled);
    Attention scores = tiny;
    scores.no_softmax = true;
    scores.run();
    ExportFile d = answers_of(tiny);
    d.arrays["scores"] = attentions_of(scores);
    const ExportFile small = file_of(inputs_of(with_small_inputs(seed, 2e-4, nothing)), {{"num_heads", "3"}});
    EXPECT_EQ(said(small, d), kNoScale) << seed;
    for (const double size : {1e-5, 1e-3, 0.003, 0.1, 1.0, 3.0})
      for (const auto& both : {nothing, causal, with_padding}) {
        const Attention good = with_small_inputs(seed, size, both);
        const ExportFile inputs = file_of(inputs_of(good), {{"num_heads", "3"}});
        EXPECT_EQ(said(inputs, answers_of(good)), "none") << seed << " " << size;
      }
  }
}

// Scores that are wrong under weights that are right: the mistake is in the stored scores, or it is none.
TEST(Diagnosis, EveryArrayMustAgree) {
  for (const bool masked : {false, true})
    for (const double factor : {8.0, 0.0}) {
      Attention right(4);
      if (masked) right.causal();
      right.run();
      Attention wrong = right;
      Random random(3);
      for (Table& head : wrong.scores)
        for (double& score : head.values) score *= factor > 0 ? factor : static_cast<double>(random.symmetric(2));
      const auto file = [](const Attention& a) {
        return file_of({{"attentions", attentions_of(a)}, {"scores", of_heads(a.scores)}});
      };
      const std::string said = diagnosed(file(right), file(wrong));
      EXPECT_EQ(said.substr(0, 22), factor > 0 ? "scores multiplied by 8" : "none") << masked;
      wrong.output(0, 0) += 1;
      EXPECT_EQ(diagnosed(file_of(inputs_of(right), {{"num_heads", "3"}}), answers_of(wrong)), "none")
          << "right weights, and one wrong number in the output";
    }
}

// Weights that a mistake explains beside scores that do not lead to the weights of the right side.
TEST(Diagnosis, AnArrayThatCannotBeComputedIsNotExplained) {
  Attention right(4), wrong(4), other(9);
  wrong.scale = 1;
  for (Attention* one : {&right, &wrong, &other}) one->run();
  const auto file = [](const Attention& weights, const Attention& scores) {
    return file_of({{"attentions", attentions_of(weights)}, {"scores", of_heads(scores.scores)}});
  };
  EXPECT_EQ(diagnosed(file(right, other), file(wrong, right)), "none");
  EXPECT_EQ(diagnosed(file(right, right), file(wrong, wrong)).substr(0, 22), "scores multiplied by 2");
}

TEST(Diagnosis, TwoMistakesAndSomeHeadsHaveTheirProof) {
  auto [right, wrong] = sides_with([](Attention& a) { a.scale = 1, a.merge = 2; }, causal);
  const ExportFile inputs = file_of(inputs_of(right), {{"num_heads", "3"}});
  const auto verdicts = [&](const Attention& found) {
    const ExportFile b = answers_of(found);
    return diagnose(inputs, b, compare(inputs, b)).verdicts;
  };
  const auto two = verdicts(wrong);
  ASSERT_EQ(two.size(), 1u);
  EXPECT_EQ(two[0].text().en, kNoScale + ", and heads not transposed back before they are put side by side");
  ASSERT_EQ(two[0].proof.size(), 2u);
  for (const ArrayProof& proof : two[0].proof) {
    EXPECT_GT(proof.before, 0.01) << proof.array;
    EXPECT_LT(*proof.after, 2e-5) << proof.array;
  }
  wrong.merge = 0;
  wrong.first_head = wrong.last_head = 1;
  wrong.run();
  const auto one = verdicts(wrong);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].text().en, kNoScale + ", in head 1 alone");
  EXPECT_EQ(one[0].heads, std::vector<Index>{1});
}

TEST(Diagnosis, TheSearchEndsAtItsLimit) {
  Attention right(4), other(5);
  right.run(), other.run();
  const ExportFile a = weights_only(right), b = weights_only(other);
  EXPECT_TRUE(diagnose(a, b, compare(a, b), 0).stopped);
  EXPECT_FALSE(diagnose(a, b, compare(a, b)).stopped);
}

TEST(Diagnosis, RoundingIsItsOwnVerdict) {
  Attention right(4);
  right.run();
  const auto said = [&](const Attention& found) {
    const ExportFile a = file_of(inputs_of(right), {{"num_heads", "3"}}), b = answers_of(found);
    const Diagnosis diagnosis = diagnose(a, b, compare(a, b));
    EXPECT_TRUE(diagnosis.verdicts.empty());
    return diagnosis.line().en;
  };
  for (const bool brain : {true, false}) {
    Attention half = right;
    for (Table& head : half.weights)
      for (double& weight : head.values) weight = brain ? as_bfloat16(weight) : as_float16(weight);
    EXPECT_EQ(said(half), std::string("rounding and no mistake: numbers of ") + (brain ? "bfloat16" : "float16"));
  }
  Attention tf32(4);
  for (double& value : tf32.x.values) value = rounded(value, 10);
  for (Table& weight : tf32.weight)
    for (double& value : weight.values) value = rounded(value, 10);
  tf32.run();
  Table q = tf32.project(0, tf32.x), k = tf32.project(1, tf32.x);
  for (Table* side : {&q, &k})
    for (double& value : side->values) value = rounded(value, 10);
  for (std::size_t h = 0; h < 3; ++h)
    for (std::size_t i = 0; i < 7; ++i)
      for (std::size_t j = 0; j < 7; ++j) {
        tf32.scores[h](i, j) = 0;
        for (std::size_t c = 0; c < 4; ++c) tf32.scores[h](i, j) += q(i, h * 4 + c) * k(j, h * 4 + c) / 2;
      }
  tf32.weights = tf32.softmax(tf32.scores);
  tf32.output = right.output;
  EXPECT_EQ(said(tf32), "rounding and no mistake: products of float32 in TF32");
}

// Numbers that float16 holds on both sides were not rounded to it.
TEST(Diagnosis, EvenWeightsThatDifferAreNotRounded) {
  Array even{.shape = {1, 1, 4, 4}, .values = std::vector<float>(16, 0.25f)}, uneven = even;
  uneven.values[0] += 0x1p-12f, uneven.values[1] -= 0x1p-12f;
  EXPECT_EQ(diagnosed(file_of({{"attentions", even}}), file_of({{"attentions", uneven}})), "none");
}

// Within what bfloat16 leaves open, "not divided" (a factor of 2) explains too; the factor that is there explains
// better.
TEST(Diagnosis, TheBetterExplanationIsNamed) {
  auto [right, wrong] = sides_with([](Attention& a) { a.scale = 0.5 * 2.06; });
  for (Table& head : wrong.weights)
    for (double& weight : head.values) weight = as_bfloat16(weight);
  EXPECT_EQ(diagnosed(weights_only(right), weights_only(wrong)).substr(0, 24), "scores multiplied by 2.0");
}

TEST(Diagnosis, NoiseIsNoMistake) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Attention right(seed), other(seed + 100);
    if (seed % 3 == 1) right.causal(), other.causal();
    if (seed % 3 == 2) right.pad(2), other.pad(2);
    right.run();
    other.run();
    EXPECT_EQ(diagnosed(weights_only(right), weights_only(other)), "none") << seed;
    const ExportFile inputs = file_of(inputs_of(right), {{"num_heads", "3"}});
    EXPECT_EQ(diagnosed(inputs, answers_of(other)), "none") << seed;
    for (const float size : {3e-5f, 1e-3f, 0.1f}) {
      Random random(seed);
      Attention noisy = right;
      for (Table& head : noisy.weights)
        for (double& weight : head.values)
          if (weight > 0) weight += static_cast<double>(random.symmetric(size));
      noisy.weights[0].values[0] += static_cast<double>(size);
      EXPECT_EQ(diagnosed(weights_only(right), weights_only(noisy)), "none") << seed << " " << size;
      EXPECT_EQ(diagnosed(inputs, answers_of(noisy)), "none") << seed << " " << size;
    }
    // A weight by hand is no mistake of the table either.
    Attention touched = right;
    touched.weights[1](6, 0) *= 0.5;
    EXPECT_EQ(diagnosed(weights_only(right), weights_only(touched)), "none") << seed;
  }
}

}  // namespace
}  // namespace headlight::mistaken::verdict_test
