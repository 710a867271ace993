// What is recognised beside the table of usual mistakes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "diagnose/diagnosed.h"

namespace headlight::mistaken::diagnosis_test {
namespace {

TEST(Diagnosis, MistakesShowInTheOutputWhereItIsAllThereIs) {
  const auto [right, wrong] = sides_with([](Attention& a) { a.scale = 2; }, causal);
  const ExportFile a = file_of(inputs_of(right), {{"num_heads", "3"}});
  EXPECT_EQ(diagnosed(a, file_of({{"output", array_of({7, 12}, {wrong.output})}})), kInverse);
}

TEST(Diagnosis, HeadsInAnotherOrderAreNamed) {
  Attention right(4);
  right.run();
  Attention wrong = right;
  std::rotate(wrong.weights.begin(), wrong.weights.begin() + 1, wrong.weights.end());
  EXPECT_EQ(diagnosed(weights_only(right), weights_only(wrong)), "heads in another order: they are heads 1, 2, 0");
}

/// An export `--with qkv`: d_k neighbouring columns of a projection belong to head h.
Array by_head(const Attention& a, int which) {
  const Table all = a.project(which, a.x);
  std::vector<Table> heads;
  for (std::size_t head = 0; head < a.heads; ++head) {
    heads.emplace_back(a.tokens, a.d_k);
    for (std::size_t t = 0; t < a.tokens; ++t)
      for (std::size_t c = 0; c < a.d_k; ++c) heads.back()(t, c) = all(t, head * a.d_k + c);
  }
  return array_of({1, 3, 7, 4}, heads);
}

TEST(Diagnosis, QueriesAndKeysOfAnExportTellWhatWeightsDoNot) {
  const auto with_wrong = [](auto change) {
    const auto [right, wrong] = sides_with(change, causal, 9);
    ExportFile a = weights_only(right);
    EXPECT_EQ(diagnosed(a, weights_only(wrong)), "none");
    a.arrays["queries"] = by_head(right, 0);
    a.arrays["keys"] = by_head(right, 1);
    return diagnosed(a, weights_only(wrong));
  };
  EXPECT_EQ(with_wrong([](Attention& a) { a.swapped = true; }), "query and key swapped");
  EXPECT_EQ(with_wrong([](Attention& a) { a.split[0] = a.split[1] = 1; }),
            "heads split in the wrong order: every H-th column in place of d_k neighbours");
}

TEST(Diagnosis, ABiasThatNoWeightShowsIsFoundInTheKeys) {
  const auto [right, wrong] = sides_with([](Attention& a) { a.no_bias[1] = true; }, nothing, 9);
  const ExportFile a = file_of(inputs_of(right), {{"num_heads", "3"}});
  EXPECT_TRUE(compare(a, answers_of(wrong)).equal());
  ExportFile b = answers_of(wrong);
  b.arrays["keys"] = by_head(wrong, 1);
  EXPECT_EQ(diagnosed(a, b), "bias of the key projection left out");
}

TEST(Diagnosis, WeightsAveragedOverTheHeadsAreNoticedInTheShape) {
  Attention right(4);
  right.run();
  Table mean(7, 7);
  for (const Table& head : right.weights)
    for (std::size_t i = 0; i < mean.values.size(); ++i) mean.values[i] += head.values[i] / 3;
  const ExportFile b = file_of({{"attentions", array_of({1, 7, 7}, {mean})}});
  const FileComparison comparison = compare(weights_only(right), b);
  EXPECT_FALSE(comparison.arrays[0].same_shape());
  EXPECT_EQ(diagnosed(weights_only(right), b), "weights averaged over the heads");
}

TEST(Diagnosis, WithoutDKTheFactorIsNamedWithWhatItWouldMean) {
  const auto [right, wrong] = sides_with([](Attention& a) { a.scale = 2; });
  EXPECT_EQ(diagnosed(file_of({{"attentions", attentions_of(right)}}), file_of({{"attentions", attentions_of(wrong)}})),
            "scores multiplied by 4 (d_k is not in the files: if it is 16, they are not divided by sqrt(d_k); if 4, "
            "multiplied by sqrt(d_k) instead)");
}

/// Scores of one layer, blocked cells as `masked`.
ExportFile scores_only(const Attention& a, double masked, bool tells_d_k = false) {
  Attention scores = a;
  scores.no_softmax = true;
  scores.run();
  for (Table& head : scores.weights)
    for (double& score : head.values)
      if (std::isinf(score)) score = masked;
  std::map<std::string, Array> arrays{{"scores", attentions_of(scores)}};
  if (tells_d_k) arrays["hidden_states"] = array_of({1, 7, 12}, {a.x});
  return file_of(std::move(arrays));
}

// The first mistake that a reader of a tutorial makes, in the scores as PyTorch holds them under a mask.
TEST(Diagnosis, ScoresAreJudgedWhateverStandsInMaskedCells) {
  for (const double masked : {-1e9, static_cast<double>(std::numeric_limits<float>::lowest()), -kInfinity}) {
    Attention right(4), wrong(4);
    right.causal();
    wrong.causal();
    wrong.scale = 1;
    EXPECT_EQ(diagnosed(scores_only(right, masked, true), scores_only(wrong, masked, true)), kNoScale) << masked;
    EXPECT_EQ(diagnosed(scores_only(right, masked), scores_only(wrong, masked)),
              "scores multiplied by 2 (d_k is not in the files: if it is 4, they are not divided by sqrt(d_k); if 2, "
              "multiplied by sqrt(d_k) instead)")
        << masked;
    Attention open(4);
    EXPECT_EQ(diagnosed(scores_only(right, masked), scores_only(open, masked)), "mask missing") << masked;
    Attention next(4);
    for (std::size_t i = 0; i < 7; ++i)
      for (std::size_t j = i + 2; j < 7; ++j) next.allowed(i, j) = 0;
    EXPECT_EQ(diagnosed(scores_only(right, masked), scores_only(next, masked)),
              "causal mask off by one: each query attends to the next token")
        << masked;
  }
}

TEST(Diagnosis, LogarithmsOfWeightsAreNoScores) {
  Attention right(4);
  right.run();
  Attention logarithms = right;
  for (Table& head : logarithms.weights)
    for (double& weight : head.values) weight = std::log(weight);
  EXPECT_EQ(diagnosed(weights_only(right), weights_only(logarithms)),
            "log_softmax in place of softmax: these are the logarithms of the weights");
}

TEST(Diagnosis, OneMapForEveryHeadIsTheMeanOfThem) {
  Attention right(4);
  right.run();
  Attention mean = right;
  for (std::size_t i = 0; i < mean.weights[0].values.size(); ++i) {
    const double sum = right.weights[0].values[i] + right.weights[1].values[i] + right.weights[2].values[i];
    for (Table& head : mean.weights) head.values[i] = sum / 3;
  }
  EXPECT_EQ(diagnosed(weights_only(right), weights_only(mean)), "weights averaged over the heads");
}

TEST(Diagnosis, ADiagonalThatIsBlockedIsNamedWithoutACausalMaskToo) {
  for (const bool padded : {false, true}) {
    const auto [right, wrong] = sides_with(
        [](Attention& a) {
          for (std::size_t i = 0; i < 7; ++i) a.allowed(i, i) = 0;
        },
        padded ? with_padding : nothing);
    EXPECT_EQ(diagnosed(weights_only(right), weights_only(wrong)), "diagonal blocked: no token attends to itself");
  }
}

TEST(Diagnosis, ARowThatMayAttendToNothingHasEqualWeightsWhereALargeNumberMasks) {
  for (const bool masked : {false, true}) {
    Attention right(4), wrong(4);
    for (Attention* one : {&right, &wrong}) {
      if (masked) one->causal();
      one->run();
      for (Table& head : one->weights)
        for (std::size_t j = 0; j < 7; ++j) head(2, j) = one == &right ? 0 : 1.0 / 7;
    }
    EXPECT_EQ(diagnosed(weights_only(right), weights_only(wrong)),
              "rows that may attend to nothing have equal weights: a large number masks in place of -inf");
  }
}

TEST(Diagnosis, ACacheHasAnOffset) {
  const auto scores = [](Index offset) {
    Random random(7);
    Array array{.shape = {1, 2, 3, 7}, .values = {}};
    for (Index row = 0; row < 6; ++row)
      for (Index j = 0; j < 7; ++j) {
        const float score = random.symmetric(2);
        array.values.push_back(j <= row % 3 + offset ? score : -std::numeric_limits<float>::infinity());
      }
    return file_of({{"scores", array}});
  };
  EXPECT_EQ(diagnosed(scores(4), scores(0)), "causal mask without the offset of the cache: query 0 sees key 0 alone");
}

TEST(Diagnosis, WeightsThatAreDroppedMayBeAllThatIsDone) {
  Attention right(4);
  right.run();
  Attention dropped = right;
  for (Table& head : dropped.weights)
    for (std::size_t i = 0; i < head.values.size(); i += 5) head.values[i] = 0;
  EXPECT_EQ(diagnosed(weights_only(right), weights_only(dropped)),
            "dropout left on, and the weights that are left not divided by 1 − p");
  for (Table& head : dropped.weights)
    for (double& weight : head.values) weight *= 0.7;
  EXPECT_EQ(diagnosed(weights_only(right), weights_only(dropped)), "none") << "dropout makes no weight smaller";
}

TEST(Diagnosis, ARowOfZerosIsNoDropout) {
  Attention right(4);
  right.run();
  Attention wrong = right;
  for (Table& head : wrong.weights)
    for (std::size_t key = 0; key < 7; ++key) head(3, key) = 0;
  EXPECT_EQ(diagnosed(weights_only(right), weights_only(wrong)), "none");
  wrong = right;
  wrong.weights[0](3, 2) = 0;
  EXPECT_EQ(diagnosed(weights_only(right), weights_only(wrong)), "none") << "one weight of one row";
}

/// The same zeros in every head that form a mask; A need not have the mask.
TEST(Diagnosis, ZerosOfAMaskAreAMaskAfterTheSoftmax) {
  Attention right(4);
  right.run();
  for (const auto& mask : {causal, with_padding}) {
    Attention wrong(4);
    wrong.mask_after = true;
    mask(wrong);
    wrong.run();
    EXPECT_EQ(diagnosed(weights_only(right), weights_only(wrong)),
              "mask applied after the softmax, rows not renormalised");
    wrong.weights[1](5, 2) = 0;
    EXPECT_EQ(diagnosed(weights_only(right), weights_only(wrong)),
              "dropout left on, and the weights that are left not divided by 1 − p");
  }
}

/// Three heads of four columns in a d_model of 20, as Gemma, Qwen 3 and T5 have it.
TEST(Diagnosis, DModelIsNotTheColumnsOfAllHeads) {
  const auto scaled_by = [](double columns, Index d_model) {
    const auto [right, wrong] = sides_with([&](Attention& a) { a.scale = 1 / std::sqrt(columns); });
    const auto file = [&](const Attention& a) {
      std::map<std::string, Array> arrays{{"attentions", attentions_of(a)}, {"queries", of_heads(a.parts[0])}};
      const Table states(7, static_cast<std::size_t>(d_model), 1);
      if (d_model > 0) arrays["hidden_states"] = array_of({1, 7, d_model}, {states});
      return file_of(std::move(arrays));
    };
    return diagnosed(file(right), file(wrong));
  };
  const std::string of_model = "scores divided by sqrt(d_model), not by sqrt(d_k)";
  const std::string of_heads = "scores divided by sqrt(heads · d_k), not by sqrt(d_k)";
  EXPECT_EQ(scaled_by(20, 20), of_model);
  EXPECT_EQ(scaled_by(12, 20), of_heads);
  EXPECT_EQ(scaled_by(12, 12), of_model);
  EXPECT_EQ(scaled_by(12, 0), of_heads) << "d_model is not known";
}

TEST(Diagnosis, OfEqualWeightsNoFactorIsKnown) {
  Attention right(4);
  right.run();
  Attention wrong = right;
  for (Table& head : wrong.weights)
    for (double& weight : head.values) weight = 1.0 / 7;
  EXPECT_EQ(diagnosed(weights_only(right), weights_only(wrong)), "none");
}

TEST(Diagnosis, TheSmallestExampleOfTheTextbooks) {
  const auto weights = [](float scale) {
    // Two tokens, two heads, d_k = 2; scores 1 and 3, 2 and 0; 0.5 and 1, 1 and 4.
    const float scores[] = {1, 3, 2, 0, 0.5f, 1, 1, 4};
    Array array{.dtype = Dtype::f32, .shape = {1, 2, 2, 2}, .values = {}};
    for (int row = 0; row < 4; ++row) {
      const float a = std::exp(scores[2 * row] * scale), b = std::exp(scores[2 * row + 1] * scale);
      array.values.insert(array.values.end(), {a / (a + b), b / (a + b)});
    }
    return array;
  };
  const Array x{.dtype = Dtype::f32, .shape = {2, 4}, .values = {1, 0, 1, 0, 0, 1, 0, 1}};
  const float root = std::sqrt(2.0f);
  EXPECT_EQ(diagnosed(file_of({{"attentions", weights(1 / root)}, {"last_hidden_state", x}}),
                      file_of({{"attentions", weights(root)}, {"last_hidden_state", x}})),
            kInverse);
}

}  // namespace
}  // namespace headlight::mistaken::diagnosis_test
