// The usual mistakes: each is made in an attention written out for the tests, and must be recognised; what is no mistake
// of the table must not be.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/mistaken.h"
#include "diagnose/diagnosis.h"

namespace headlight {
namespace {

using namespace mistaken;

std::string diagnosed(const ExportFile& a, const ExportFile& b) {
  const FileComparison comparison = compare(a, b);
  EXPECT_FALSE(comparison.equal());
  const auto diagnosis = diagnose(a, b, comparison);
  return diagnosis ? diagnosis->text : "none";
}

struct Mistake {
  const char* name;
  std::string from_weights;  // what is said where only the weights are known; empty: not to be seen from them
  std::string from_inputs;
  std::function<void(Attention&)> both;  // what is so in the right one as well
  std::function<void(Attention&)> wrong;
};

void nothing(Attention&) {}
void causal(Attention& a) { a.causal(); }
void padded(Attention& a) { a.pad(2); }
void causal_and_padded(Attention& a) {
  a.causal();
  a.pad(2);
}

void invert(Attention& a) {
  for (double& cell : a.allowed.values) cell = 1 - cell;
}

void shift(Attention& a, int by) {
  const Table before = a.allowed;
  for (std::size_t i = 0; i < before.rows; ++i)
    for (std::size_t j = 0; j < before.cols; ++j) {
      const int from = static_cast<int>(j) - by;
      if (from < 0) a.allowed(i, j) = 1;
      else a.allowed(i, j) = from < static_cast<int>(before.cols) ? before(i, static_cast<std::size_t>(from)) : 0;
    }
}

const std::string kInverse = "scores multiplied by sqrt(d_k)";
const std::string kNoScale = "scores not divided by sqrt(d_k)";

std::vector<Mistake> mistakes() {
  const auto same = [](const char* name, const std::string& text, auto both, auto wrong) {
    return Mistake{name, text, text, both, wrong};
  };
  const auto hidden = [](const char* name, const std::string& text, auto both, auto wrong) {
    return Mistake{name, "", text, both, wrong};
  };
  const std::string not_transposed = " projection not transposed (x·W in place of x·Wᵀ)";
  return {
      same("no_scale", kNoScale, nothing, [](Attention& a) { a.scale = 1; }),
      same("no_scale_causal", kNoScale, causal, [](Attention& a) { a.scale = 1; }),
      same("inverse", kInverse, nothing, [](Attention& a) { a.scale = 2; }),
      same("inverse_padded", kInverse, padded, [](Attention& a) { a.scale = 2; }),
      same("by_d_k", "scores divided by d_k, not by its root", nothing, [](Attention& a) { a.scale = 0.25; }),
      same("by_d_model", "scores divided by sqrt(d_model), not by sqrt(d_k)", nothing,
           [](Attention& a) { a.scale = 1 / std::sqrt(12.0); }),
      same("constant", "scores multiplied by 1.4: scale 0.7 in place of 1/sqrt(d_k)", causal,
           [](Attention& a) { a.scale = 0.7; }),
      same("over_queries", "softmax over the wrong axis: over the queries", nothing,
           [](Attention& a) { a.softmax_axis = 1; }),
      same("over_queries_causal", "softmax over the wrong axis: over the queries", causal,
           [](Attention& a) { a.softmax_axis = 1; }),
      same("over_heads", "softmax over the wrong axis: over the heads", nothing,
           [](Attention& a) { a.softmax_axis = 0; }),
      same("over_heads_causal", "softmax over the wrong axis: over the heads", causal,
           [](Attention& a) { a.softmax_axis = 0; }),
      same("no_softmax", "softmax missing: these are the scores", nothing, [](Attention& a) { a.no_softmax = true; }),
      same("dropout", "dropout left on (p = 0.25)", nothing, [](Attention& a) { a.dropout = 0.25; }),
      same("inverted", "mask inverted", causal, invert),
      same("inverted_padding", "mask inverted", padded, invert),
      same("transposed", "mask transposed", causal, [](Attention& a) { a.allowed = transposed(a.allowed); }),
      same("transposed_padding", "mask transposed", padded, [](Attention& a) { a.allowed = transposed(a.allowed); }),
      same("after_softmax", "mask applied after the softmax, rows not renormalised", causal,
           [](Attention& a) { a.mask_after = true; }),
      same("blocked_zero", "blocked scores are 0 in place of -inf", causal,
           [](Attention& a) { a.blocked_zero = true; }),
      same("no_mask", "mask missing", causal, [](Attention& a) { a.allowed = Table(7, 7, 1); }),
      same("no_padding", "padding mask missing", causal_and_padded,
           [](Attention& a) {
             a.allowed = Table(7, 7, 1);
             a.causal();
           }),
      same("no_causal", "causal mask missing", causal_and_padded,
           [](Attention& a) {
             a.allowed = Table(7, 7, 1);
             a.pad(2);
           }),
      same("diagonal", "causal mask off by one: the diagonal is blocked", causal, [](Attention& a) { shift(a, -1); }),
      same("next_token", "causal mask off by one: each query attends to the next token", causal,
           [](Attention& a) { shift(a, 1); }),
      same("one_padding_less", "mask off by one: one key too many", padded, [](Attention& a) { shift(a, 1); }),
      same("one_padding_more", "mask off by one: one key too few", padded, [](Attention& a) { shift(a, -1); }),
      same("swapped", "query and key swapped", nothing, [](Attention& a) { a.swapped = true; }),
      hidden("swapped_causal", "query and key swapped", causal, [](Attention& a) { a.swapped = true; }),
      hidden("interleaved", "heads split in the wrong order: every H-th column in place of d_k neighbours", causal,
             [](Attention& a) { a.split[0] = a.split[1] = a.split[2] = 1; }),
      hidden("reshaped", "heads split without transposing: (T, H, d_k) read on as (H, T, d_k)", nothing,
             [](Attention& a) { a.split[0] = a.split[1] = a.split[2] = 2; }),
      hidden("q_transposed", "query" + not_transposed, causal, [](Attention& a) { a.not_transposed[0] = true; }),
      hidden("k_transposed", "key" + not_transposed, nothing, [](Attention& a) { a.not_transposed[1] = true; }),
      hidden("all_transposed", "query and key" + not_transposed, nothing,
             [](Attention& a) {
               for (bool& w : a.not_transposed) w = true;
             }),
      hidden("v_transposed", "value" + not_transposed, causal, [](Attention& a) { a.not_transposed[2] = true; }),
      hidden("o_transposed", "output" + not_transposed, nothing, [](Attention& a) { a.not_transposed[3] = true; }),
      hidden("q_bias", "bias of the query projection left out", nothing, [](Attention& a) { a.no_bias[0] = true; }),
      hidden("v_bias", "bias of the value projection left out", nothing, [](Attention& a) { a.no_bias[2] = true; }),
      hidden("o_bias", "bias of the output projection left out", causal, [](Attention& a) { a.no_bias[3] = true; }),
      hidden("no_out_proj", "output projection missing", nothing, [](Attention& a) { a.left_out[3] = true; }),
      hidden("no_k_proj", "key projection missing", nothing, [](Attention& a) { a.left_out[1] = true; }),
      hidden("v_interleaved", "value heads split in the wrong order: every H-th column", nothing,
             [](Attention& a) { a.split[2] = 1; }),
      hidden("merge", "heads not transposed back before they are put side by side", nothing,
             [](Attention& a) { a.merge_reshaped = true; }),
  };
}

class Mistakes : public testing::TestWithParam<Mistake> {
 protected:
  static Attention right(std::uint64_t seed) {
    Attention attention(seed);
    GetParam().both(attention);
    attention.run();
    return attention;
  }
  static Attention wrong(std::uint64_t seed) {
    Attention attention(seed);
    GetParam().both(attention);
    GetParam().wrong(attention);
    attention.run();
    return attention;
  }
};

TEST_P(Mistakes, AreRecognisedFromWeightsAlone) {
  if (GetParam().from_weights.empty()) {
    // Not to be seen from the weights: then nothing may be made up.
    const ExportFile a = weights_only(right(3)), b = weights_only(wrong(3));
    EXPECT_FALSE(diagnose(a, b, compare(a, b)));
    return;
  }
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_EQ(diagnosed(weights_only(right(seed)), weights_only(wrong(seed))), GetParam().from_weights) << seed;
}

TEST_P(Mistakes, AreRecognisedFromTheInputs) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const ExportFile a = file_of(inputs_of(right(seed)), {{"num_heads", "3"}});
    EXPECT_TRUE(compare(a, answers_of(right(seed))).equal()) << "the test's own attention is right";
    EXPECT_FALSE(hidden_mistake(a, answers_of(right(seed)))) << "and no mistake is made up";
    EXPECT_EQ(diagnosed(a, answers_of(wrong(seed))), GetParam().from_inputs) << seed;
  }
}

TEST_P(Mistakes, AreRecognisedFromOneFileWithInputsAndAnswers) {
  auto arrays = inputs_of(right(7));
  arrays["attentions"] = attentions_of(wrong(7));
  arrays["output"] = array_of({7, 12}, {wrong(7).output});
  const ExportFile mine = file_of(std::move(arrays), {{"num_heads", "3"}});
  const auto ours = answers_to(mine);
  ASSERT_TRUE(ours) << ours.error().message;
  EXPECT_EQ(diagnosed(*ours, mine), GetParam().from_inputs);
}

INSTANTIATE_TEST_SUITE_P(Compare, Mistakes, testing::ValuesIn(mistakes()),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(Diagnosis, MistakesShowInTheOutputWhereItIsAllThereIs) {
  Attention right(4), wrong(4);
  right.causal();
  wrong.causal();
  wrong.scale = 2;
  right.run();
  wrong.run();
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

/// An export `--with qkv`: head h of a projection owns d_k neighbouring columns.
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
    Attention right(9), wrong(9);
    right.causal();
    wrong.causal();
    change(wrong);
    right.run();
    wrong.run();
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
  Attention right(9), wrong(9);
  wrong.no_bias[1] = true;
  right.run();
  wrong.run();
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
  Attention right(4), wrong(4);
  wrong.scale = 2;
  right.run();
  wrong.run();
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
    Attention right(4), wrong(4);
    if (padded) right.pad(2), wrong.pad(2);
    for (std::size_t i = 0; i < 7; ++i) wrong.allowed(i, i) = 0;
    right.run();
    wrong.run();
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

TEST(Diagnosis, OnlyTheReverseBlamesA) {
  Attention right(4), wrong(4);
  right.causal();
  right.run();
  wrong.run();
  EXPECT_EQ(diagnosed(weights_only(wrong), weights_only(right)), "A: mask missing");
  wrong.scale = 2;
  wrong.causal();
  wrong.run();
  EXPECT_EQ(diagnosed(weights_only(wrong), weights_only(right)), "A: " + kInverse);
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
  EXPECT_EQ(diagnose(a, b, compare(a, b))->layer, 0);
  const ExportFile c = two_layers(other, right), d = two_layers(other, wrong);
  EXPECT_EQ(diagnosed(c, d), kNoScale);
  EXPECT_EQ(diagnose(c, d, compare(c, d))->layer, 1);
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
    const auto diagnosis = hidden_mistake(a, b);
    return diagnosis ? diagnosis->text : "none";
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
    for (const double size : {1e-5, 1e-3, 0.003, 0.1, 1.0, 3.0})
      for (const auto& both : {nothing, causal, padded}) {
        const Attention good = with_small_inputs(seed, size, both);
        const ExportFile inputs = file_of(inputs_of(good), {{"num_heads", "3"}});
        EXPECT_EQ(said(inputs, answers_of(good)), "none") << seed << " " << size;
      }
  }
}

TEST(Diagnosis, WeightsThatAreDroppedMayBeAllThatIsDone) {
  Attention right(4);
  right.run();
  Attention dropped = right;
  for (Table& head : dropped.weights)
    for (std::size_t i = 0; i < head.values.size(); i += 5) head.values[i] = 0;
  EXPECT_EQ(diagnosed(weights_only(right), weights_only(dropped)),
            "dropout left on, and the weights that are left not divided by 1 − p");
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
}  // namespace headlight
