// The usual mistakes: each is made in an attention written out for the tests, and must be recognised.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "diagnose/diagnosed.h"

namespace headlight::mistaken::mistakes_test {
namespace {

struct MadeMistake {
  const char* name;
  std::string from_weights;  // the report where only the weights are known; empty: they do not show it
  std::string from_inputs;
  std::function<void(Attention&)> both;  // what is so in the right one as well
  std::function<void(Attention&)> wrong;
};

void causal_and_padded(Attention& a) {
  a.causal();
  a.pad(2);
}

std::vector<MadeMistake> mistakes() {
  const auto same = [](const char* name, const std::string& text, auto both, auto wrong) {
    return MadeMistake{name, text, text, both, wrong};
  };
  const auto hidden = [](const char* name, const std::string& text, auto both, auto wrong) {
    return MadeMistake{name, "", text, both, wrong};
  };
  const std::string not_transposed = " projection not transposed (x·W in place of x·Wᵀ)";
  return {
      same("no_scale", kNoScale, nothing, [](Attention& a) { a.scale = 1; }),
      same("no_scale_causal", kNoScale, causal, [](Attention& a) { a.scale = 1; }),
      same("inverse", kInverse, nothing, [](Attention& a) { a.scale = 2; }),
      same("inverse_padded", kInverse, with_padding, [](Attention& a) { a.scale = 2; }),
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
      same("inverted", "mask inverted", causal, [](Attention& a) { a.invert(); }),
      same("inverted_padding", "mask inverted", with_padding, [](Attention& a) { a.invert(); }),
      same("transposed", "mask transposed", causal, [](Attention& a) { a.allowed = transposed(a.allowed); }),
      same("transposed_padding", "mask transposed", with_padding,
           [](Attention& a) { a.allowed = transposed(a.allowed); }),
      same("after_softmax", "mask applied after the softmax, rows not renormalised", causal,
           [](Attention& a) { a.mask_after = true; }),
      MadeMistake{"blocked_zero", "blocked scores are one number, such as 0, in place of -inf",
                  "blocked scores are 0 in place of -inf", causal, [](Attention& a) { a.blocked = 0; }},
      same("no_mask", "mask missing", causal, [](Attention& a) { a.open(); }),
      same("no_padding", "padding mask missing", causal_and_padded,
           [](Attention& a) {
             a.open();
             a.causal();
           }),
      same("no_causal", "causal mask missing", causal_and_padded,
           [](Attention& a) {
             a.open();
             a.pad(2);
           }),
      same("diagonal", "causal mask off by one: the diagonal is blocked", causal, [](Attention& a) { a.shift(-1); }),
      same("next_token", "causal mask off by one: each query attends to the next token", causal,
           [](Attention& a) { a.shift(1); }),
      same("one_padding_less", "mask off by one: one key too many", with_padding, [](Attention& a) { a.shift(1); }),
      same("one_padding_more", "mask off by one: one key too few", with_padding, [](Attention& a) { a.shift(-1); }),
      same("swapped", "query and key swapped", nothing, [](Attention& a) { a.swapped = true; }),
      hidden("swapped_causal", "query and key swapped", causal, [](Attention& a) { a.swapped = true; }),
      hidden("interleaved", "heads split in the wrong order: every H-th column in place of d_k neighbours", causal,
             [](Attention& a) { a.split[0] = a.split[1] = a.split[2] = 1; }),
      hidden("reshaped", "heads split without transposing: (T, H, d_k) read on as (H, T, d_k)", nothing,
             [](Attention& a) { a.split[0] = a.split[1] = a.split[2] = 2; }),
      hidden("q_transposed", "query" + not_transposed, causal, [](Attention& a) { a.not_transposed[0] = true; }),
      hidden("k_transposed", "key" + not_transposed, nothing, [](Attention& a) { a.not_transposed[1] = true; }),
      hidden("all_transposed", "query, key, value and output" + not_transposed, nothing,
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
             [](Attention& a) { a.merge = 2; }),
  };
}

class Mistakes : public testing::TestWithParam<MadeMistake> {
 protected:
  static Sides sides(std::uint64_t seed) { return sides_with(GetParam().wrong, GetParam().both, seed); }
};

TEST_P(Mistakes, AreRecognisedFromWeightsAlone) {
  if (GetParam().from_weights.empty()) {
    // Not to be seen from the weights: then nothing may be made up.
    const auto [right, wrong] = sides(3);
    const ExportFile a = weights_only(right), b = weights_only(wrong);
    EXPECT_FALSE(diagnose(a, b, compare(a, b)).named());
    return;
  }
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto [right, wrong] = sides(seed);
    EXPECT_EQ(diagnosed(weights_only(right), weights_only(wrong)), GetParam().from_weights) << seed;
  }
}

TEST_P(Mistakes, AreRecognisedFromTheInputs) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto [right, wrong] = sides(seed);
    const ExportFile a = file_of(inputs_of(right), {{"num_heads", "3"}});
    EXPECT_TRUE(compare(a, answers_of(right)).equal()) << "the test's own attention is right";
    EXPECT_FALSE(hidden_mistake(a, answers_of(right)).named()) << "and no mistake is made up";
    EXPECT_EQ(diagnosed(a, answers_of(wrong)), GetParam().from_inputs) << seed;
  }
}

TEST_P(Mistakes, AreRecognisedFromOneFileWithInputsAndAnswers) {
  const auto [right, wrong] = sides(7);
  auto arrays = inputs_of(right);
  arrays["attentions"] = attentions_of(wrong);
  arrays["output"] = array_of({7, 12}, {wrong.output});
  const ExportFile mine = file_of(std::move(arrays), {{"num_heads", "3"}});
  const auto ours = answers_to(mine);
  ASSERT_TRUE(ours) << ours.error().message();
  EXPECT_EQ(diagnosed(*ours, mine), GetParam().from_inputs);
}

INSTANTIATE_TEST_SUITE_P(Compare, Mistakes, testing::ValuesIn(mistakes()),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace headlight::mistaken::mistakes_test
