// Two exports against each other: what is equal, what differs first and where, and what can be read as an export.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "diagnose/diagnosis.h"
#include "diagnose/file_comparison.h"
#include "diagnose/mistaken.h"

namespace headlight {
namespace {

using namespace mistaken;

Array counted_array(std::vector<Index> shape) {
  Array array{.dtype = Dtype::f32, .shape = shape, .values = std::vector<float>(*num_elements(shape))};
  std::iota(array.values.begin(), array.values.end(), 0.0f);
  for (float& value : array.values) value /= 1000;
  return array;
}

ExportFile changed(const ExportFile& file, const std::string& array, std::size_t at, float by) {
  ExportFile result = file;
  result.arrays.at(array).values.at(at) += by;
  return result;
}

ExportFile everything() {
  return file_of({{"hidden_states", counted_array({3, 2, 4})},
                  {"queries", counted_array({2, 2, 2, 2})},
                  {"keys", counted_array({2, 2, 2, 2})},
                  {"values", counted_array({2, 2, 2, 2})},
                  {"scores", counted_array({2, 2, 2, 2})},
                  {"attentions", counted_array({2, 2, 2, 2})},
                  {"last_hidden_state", counted_array({2, 4})},
                  {"logits", counted_array({2, 9})}},
                 {{"tokens", R"(["我","爱"])"}});
}

std::string first_of(const ExportFile& a, const ExportFile& b) {
  const FileComparison comparison = compare(a, b);
  if (!comparison.first) return "equal";
  const ComparedArray& array = comparison.arrays[*comparison.first];
  return array.first ? array.name + ": " + cell_text(array.name, array.first->at, a, b).en : array.name;
}

// An export has the last state before the final norm, transformers behind it; neither is a mistake.
TEST(Compare, TheLastStateMayStandBehindTheFinalNorm) {
  ExportFile before = everything(), behind = everything();
  const std::vector<float> normed{0.5f, -1, 2, 0.25f, 1, 1, -3, 0.125f};
  for (ExportFile* file : {&before, &behind}) file->arrays.at("last_hidden_state").values = normed;
  std::copy(normed.begin(), normed.end(), behind.arrays.at("hidden_states").values.end() - 8);
  for (const auto& [a, b] : {std::pair{&before, &behind}, {&behind, &before}}) {
    const FileComparison comparison = compare(*a, *b);
    EXPECT_TRUE(comparison.equal()) << first_of(*a, *b);
    EXPECT_TRUE(comparison.arrays.front().norm_apart);
  }
  EXPECT_FALSE(compare(before, before).arrays.front().norm_apart);
  behind.arrays.at("hidden_states").values[3] += 1;  // an earlier state that differs is reported
  EXPECT_TRUE(first_of(before, behind).starts_with("hidden_states: layer 0, token 0")) << first_of(before, behind);
  behind = everything();
  behind.arrays.at("hidden_states").values.back() += 1;  // neither state
  EXPECT_TRUE(first_of(before, behind).starts_with("hidden_states: layer 2")) << first_of(before, behind);
}

TEST(Compare, EqualFilesAreEqual) {
  const FileComparison comparison = compare(everything(), everything());
  EXPECT_TRUE(comparison.equal());
  std::vector<std::string> names;
  for (const auto& array : comparison.arrays) {
    names.push_back(array.name);
    EXPECT_TRUE(array.equal());
    EXPECT_EQ(array.largest->difference(), 0);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"hidden_states", "queries", "keys", "values", "scores", "attentions",
                                             "last_hidden_state", "logits"}));
  EXPECT_FALSE(diagnose(everything(), everything(), comparison).named());
}

TEST(Compare, TheFirstDifferenceIsTheFirstOnTheDatasWay) {
  const ExportFile a = everything();
  ExportFile b = changed(a, "logits", 3, 1);
  EXPECT_EQ(first_of(a, b), "logits: token 0 '我', column 3");
  b = changed(b, "last_hidden_state", 5, 1);
  EXPECT_EQ(first_of(a, b), "last_hidden_state: token 1 '爱', column 1");
  b = changed(b, "hidden_states", 16, 1);
  EXPECT_EQ(first_of(a, b), "hidden_states: layer 2, token 0 '我', column 0");
  b = changed(b, "attentions", 15, 1);
  EXPECT_EQ(first_of(a, b), "attentions: L1·H1, query 1 '爱', key 1 '爱'");
  b = changed(b, "hidden_states", 9, 1);
  EXPECT_EQ(first_of(a, b), "hidden_states: layer 1, token 0 '我', column 1");
  b = changed(b, "attentions", 6, 1);
  EXPECT_EQ(first_of(a, b), "attentions: L0·H1, query 1 '爱', key 0 '我'");
  b = changed(b, "keys", 2, 1);
  EXPECT_EQ(first_of(a, b), "keys: L0·H0, key 1 '爱', column 0");
  b = changed(b, "hidden_states", 0, 1);
  EXPECT_EQ(first_of(a, b), "hidden_states: layer 0, token 0 '我', column 0");
}

TEST(Compare, AnEncoderComesBeforeItsDecoder) {
  const ExportFile a = file_of({{"cross_attentions", counted_array({1, 1, 2, 3})},
                                {"decoder_attentions", counted_array({1, 1, 2, 2})},
                                {"encoder_attentions", counted_array({1, 1, 3, 3})},
                                {"encoder_last_hidden_state", counted_array({3, 4})},
                                {"logits", counted_array({2, 9})}},
                               {{"tokens", R"(["a","b","c"])"}, {"target_tokens", R"(["X","Y"])"}});
  ExportFile b = changed(a, "logits", 9, 1);
  EXPECT_EQ(first_of(a, b), "logits: token 1 'Y', column 0");
  b = changed(a, "cross_attentions", 5, 1);
  EXPECT_EQ(first_of(a, b), "cross_attentions: L0·H0, query 1 'Y', key 2 'c'");
  b = changed(b, "decoder_attentions", 3, 1);
  EXPECT_EQ(first_of(a, b), "decoder_attentions: L0·H0, query 1 'Y', key 1 'Y'");
  b = changed(b, "encoder_last_hidden_state", 3, 1);
  EXPECT_EQ(first_of(a, b), "encoder_last_hidden_state: token 0 'a', column 3");
}

TEST(Compare, ToleranceIsAbsoluteForAttentionsAndRelativeForTheRest) {
  const ExportFile a = file_of({{"attentions", counted_array({1, 1, 2, 2})},
                                {"output", Array{.dtype = Dtype::f32, .shape = {1, 2}, .values = {-1000, 2}}}});
  EXPECT_TRUE(compare(a, changed(a, "attentions", 1, 1.9e-5f)).equal());
  EXPECT_FALSE(compare(a, changed(a, "attentions", 1, 2.2e-5f)).equal());
  EXPECT_TRUE(compare(a, changed(a, "output", 1, 0.019f)).equal());
  EXPECT_FALSE(compare(a, changed(a, "output", 1, 0.021f)).equal());
  EXPECT_TRUE(compare(a, changed(a, "attentions", 1, 0.4f), 0.5f).equal());
  EXPECT_FALSE(compare(a, changed(a, "attentions", 1, 1e-6f), 0).equal());
}

TEST(Compare, ToleranceIsThatOfTheRow) {
  const ExportFile a =
      file_of({{"output", Array{.dtype = Dtype::f32, .shape = {2, 2}, .values = {-1000, 2, 3, 0.5f}}}});
  EXPECT_TRUE(compare(a, changed(a, "output", 1, 0.019f)).equal());
  EXPECT_FALSE(compare(a, changed(a, "output", 3, 0.019f)).equal());
  EXPECT_TRUE(compare(a, changed(a, "output", 3, 5.9e-5f)).equal());
  // The difference that is reported is one above the tolerance.
  const FileComparison both = compare(a, changed(changed(a, "output", 1, 0.019f), "output", 3, 0.01f));
  EXPECT_EQ(both.arrays[0].largest->at, (std::vector<Index>{1, 1}));
  EXPECT_NEAR(both.arrays[0].tolerance, 6e-5, 1e-9);
}

/// Scores of a causal mask whose blocked cells hold `masked`.
ExportFile causal_scores(float masked, float factor = 1, float added = 0) {
  Random random(11);
  Array array{.dtype = Dtype::f32, .shape = {1, 1, 6, 6}, .values = {}};
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      const float score = random.symmetric(3) * factor;
      array.values.push_back(j <= i ? score : masked + added * score);
    }
  return file_of({{"scores", array}});
}

constexpr float kMaskNumbers[] = {-1e4f, -65504.0f, -1e9f, std::numeric_limits<float>::lowest(),
                                  -std::numeric_limits<float>::infinity()};

TEST(Compare, MaskedScoresAreEqualWhateverStandsThere) {
  for (const float a : kMaskNumbers)
    for (const float b : kMaskNumbers) {
      EXPECT_TRUE(compare(causal_scores(a), causal_scores(b)).equal()) << a << " " << b;
      if (!std::isfinite(b)) continue;
      EXPECT_TRUE(compare(causal_scores(a), causal_scores(b, 1, 1)).equal()) << "added, not put: " << a << " " << b;
    }
}

TEST(Compare, AMaskOfLargeNumbersHidesNoWrongScore) {
  for (const float masked : kMaskNumbers) {
    const ExportFile a = causal_scores(masked);
    for (const std::size_t cell : {0u, 7u, 33u}) {  // each may be attended to
      const FileComparison one = compare(a, changed(a, "scores", cell, 0.01f));
      ASSERT_FALSE(one.equal()) << masked << " " << cell;
      EXPECT_NEAR(one.arrays[0].largest->difference(), 0.01, 1e-4);
    }
    EXPECT_FALSE(compare(a, causal_scores(masked, 8)).equal()) << masked;
    ExportFile leaking = a;
    leaking.arrays.at("scores").values[5] = 0.3f;  // query 0 sees key 5
    EXPECT_FALSE(compare(a, leaking).equal()) << masked;
    EXPECT_FALSE(compare(leaking, a).equal()) << masked;
  }
}

TEST(Compare, LargeScoresAreNoMask) {
  const auto scores = [](float value) {
    return file_of({{"scores", Array{.dtype = Dtype::f32, .shape = {1, 1, 1, 2}, .values = {-6000, value}}}});
  };
  EXPECT_FALSE(compare(scores(-7000), scores(-6800)).equal());
}

TEST(Compare, LargestDifferenceAndItsPlace) {
  const ExportFile a = everything();
  const ExportFile b = changed(changed(a, "attentions", 6, 0.25f), "attentions", 9, -0.5f);
  for (const auto& array : compare(a, b).arrays) {
    if (array.name != "attentions") continue;
    EXPECT_EQ(array.largest->at, (std::vector<Index>{1, 0, 0, 1}));
    EXPECT_NEAR(array.largest->difference(), 0.5, 1e-6);
    EXPECT_EQ(array.first->at, (std::vector<Index>{0, 1, 1, 0}));
    EXPECT_NEAR(array.first->found - array.first->expected, 0.25, 1e-6);
  }
}

TEST(Compare, ABatchOfOneAndSingleLayersAreTheSameAsWithoutTheirAxis) {
  const ExportFile a =
      file_of({{"attentions", counted_array({2, 3, 4, 4})}, {"last_hidden_state", counted_array({4, 6})}});
  for (const std::vector<Index>& shape : {std::vector<Index>{1, 2, 3, 4, 4}, {2, 1, 3, 4, 4}})
    EXPECT_TRUE(compare(a, file_of({{"attentions", counted_array(shape)}})).equal());
  for (const std::vector<Index>& shape : {std::vector<Index>{1, 4, 6}, {4, 1, 6}})
    EXPECT_TRUE(compare(a, file_of({{"last_hidden_state", counted_array(shape)}})).equal());
  EXPECT_TRUE(compare(file_of({{"attentions", counted_array({1, 3, 4, 4})}}),
                      file_of({{"attentions", counted_array({3, 4, 4})}}))
                  .equal());
  EXPECT_TRUE(compare(file_of({{"mine", counted_array({1, 1, 4})}}), file_of({{"mine", counted_array({4})}})).equal());
}

TEST(Compare, OtherShapesAreADifference) {
  const ExportFile a = file_of({{"attentions", counted_array({2, 3, 4, 4})}});
  const ExportFile b = file_of({{"attentions", counted_array({2, 3, 4, 5})}});
  const FileComparison comparison = compare(a, b);
  EXPECT_FALSE(comparison.equal());
  EXPECT_FALSE(comparison.arrays[0].same_shape());
  EXPECT_FALSE(comparison.arrays[0].largest);
  EXPECT_FALSE(diagnose(a, b, comparison).named());
}

TEST(Compare, ArraysOfOneFileAreListedAndNoDifference) {
  const ExportFile a = file_of({{"attentions", counted_array({1, 1, 2, 2})}, {"logits", counted_array({2, 3})}});
  const ExportFile b = file_of({{"attentions", counted_array({1, 1, 2, 2})}, {"mine", counted_array({2})}});
  const FileComparison comparison = compare(a, b);
  EXPECT_TRUE(comparison.equal());
  EXPECT_EQ(comparison.only_a, std::vector<std::string>{"logits"});
  EXPECT_EQ(comparison.only_b, std::vector<std::string>{"mine"});
}

TEST(Compare, NumbersThatAreNotFinite) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
  const auto one = [](float value) {
    return file_of({{"scores", Array{.dtype = Dtype::f32, .shape = {1, 1, 1, 2}, .values = {value, 1}}}});
  };
  EXPECT_TRUE(compare(one(-kInf), one(-kInf)).equal());
  EXPECT_TRUE(compare(one(kNan), one(kNan)).equal());
  EXPECT_FALSE(compare(one(-kInf), one(kInf)).equal());
  for (const float value : {kNan, kInf, -kInf}) {
    const FileComparison comparison = compare(one(1), one(value));
    EXPECT_FALSE(comparison.equal());
    EXPECT_EQ(comparison.arrays[0].largest->difference(), kInf);
    EXPECT_EQ(comparison.arrays[0].first->at, (std::vector<Index>{0, 0, 0, 0}));
  }
}

// --- JSON --------------------------------------------------------------------------------------------------------

std::string refused(std::string_view text) {
  const auto file = export_from_json("f.json", text);
  return file ? "accepted" : file.error().message();
}

TEST(ExportFile, JsonOfHeadlightAndOfBertViz) {
  const auto ours = export_from_json("f", R"({"schema":"headlight.attention/1","model":{"d_k":16},
    "mask":{"kind":"causal","allowed":[[1,0],[1,1]]},
    "attention":[{"name":"Self","attn":[[[[1,0],[0.25,0.75]]]],"left_text":["a","b"],"right_text":["c","d"]}],
    "scores":[[[[1,2],[3,4]]]]})");
  ASSERT_TRUE(ours) << ours.error().message();
  EXPECT_EQ(ours->arrays.at("attentions").shape, (std::vector<Index>{1, 1, 2, 2}));
  EXPECT_EQ(ours->arrays.at("attentions").values, (std::vector<float>{1, 0, 0.25f, 0.75f}));
  EXPECT_EQ(ours->arrays.at("scores").values, (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(ours->words.at("").queries, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(ours->words.at("").keys, (std::vector<std::string>{"c", "d"}));
  EXPECT_EQ(ours->d_k, 16);
  EXPECT_EQ(ours->masks.at("")(0, 1), -std::numeric_limits<float>::infinity());
  const auto bertviz = export_from_json("f", R"({"attention":[{"name":null,"attn":[[[[1,0],[0.25,0.75]]]],
    "left_text":["a","b"],"right_text":["a","b"]}],"default_filter":"0","root_div_id":"x"})");
  ASSERT_TRUE(bertviz) << bertviz.error().message();
  EXPECT_TRUE(compare(*ours, *bertviz).equal());
}

TEST(ExportFile, JsonOfAnEncoderDecoderAndOfABatch) {
  const auto file = export_from_json("f", R"({"attention":[{"name":"Encoder","attn":[[[[1]]]]},
    {"name":"Decoder","attn":[[[[1,0],[0,1]]]]},{"name":"Cross","attn":[[[[1],[1]]]]}]})");
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->arrays.at("cross_attentions").shape, (std::vector<Index>{1, 1, 2, 1}));
  EXPECT_TRUE(file->arrays.contains("encoder_attentions"));
  EXPECT_TRUE(file->arrays.contains("decoder_attentions"));
  const auto batch = export_from_json("f", R"({"batch":[{"attention":[{"name":"Self","attn":[[[[1]]]]}]},
    {"attention":[{"name":"Self","attn":[[[[1]]]]}]}]})");
  ASSERT_TRUE(batch) << batch.error().message();
  EXPECT_TRUE(batch->arrays.contains("0.attentions"));
  EXPECT_TRUE(batch->arrays.contains("1.attentions"));
}

TEST(ExportFile, BadJsonIsNamedByItsPlace) {
  EXPECT_EQ(refused("{}"), "f.json: attention: expected a list, as Headlight and BertViz write it, found none");
  EXPECT_EQ(refused("[]"), "f.json: attention: expected a list, as Headlight and BertViz write it, found none");
  EXPECT_EQ(refused(R"({"attention":[{}]})"),
            "f.json: attention[0].attn: expected [layer][head][query][key], found none");
  EXPECT_EQ(refused(R"({"attention":[{"attn":[[[[1,2],[3]]]]}]})"),
            "f.json: attention[0].attn[0][0][1]: expected 2 entries, as the first has, found 1");
  EXPECT_EQ(refused(R"({"attention":[{"attn":[[[[1,2],3]]]}]})"),
            "f.json: attention[0].attn[0][0][1]: expected 2 entries, as the first has, found number");
  EXPECT_EQ(refused(R"({"attention":[{"attn":[[[[1,true]]]]}]})"),
            "f.json: attention[0].attn[0][0][0][1]: expected a number, found boolean");
  EXPECT_EQ(refused(R"({"attention":[{"attn":[[]]}]})"),
            "f.json: attention[0].attn: expected lists that are not empty, found an empty one");
  EXPECT_EQ(refused(R"({"attention":[{"attn":[[[[[[1]]]]]]}]})"),
            "f.json: attention[0].attn: expected at most 5 lists within one another, found more");
  EXPECT_EQ(refused(R"({"attention":[{"attn":[[[[1]]]]},{"name":"Self","attn":[[[[1]]]]}]})"),
            "f.json: attention: expected each name once, found 'attentions' twice");
  EXPECT_EQ(refused(R"({"schema":"headlight.attention/2","attention":[{"attn":[[[[1]]]]}]})"),
            "f.json: schema: expected headlight.attention/1, found 'headlight.attention/2'");
  EXPECT_EQ(refused(R"({"batch":[]})"), "f.json: batch: expected a list of answers, found array");
}

TEST(ExportFile, OneFileNeedsInputsAndAnswers) {
  Attention attention(1);
  attention.run();
  const auto nothing_to_compute = answers_to(answers_of(attention));
  ASSERT_FALSE(nothing_to_compute);
  EXPECT_NE(nothing_to_compute.error().message().find("query: expected the inputs"), std::string::npos);
  const auto nothing_to_compare = answers_to(file_of(inputs_of(attention), {{"num_heads", "3"}}));
  ASSERT_FALSE(nothing_to_compare);
  EXPECT_NE(nothing_to_compare.error().message().find("as your implementation computed them"), std::string::npos);
  EXPECT_FALSE(export_from("f", {.arrays = inputs_of(attention), .metadata = {}}, std::nullopt)) << "no num_heads";
  EXPECT_TRUE(export_from("f", {.arrays = inputs_of(attention), .metadata = {}}, 3));
}

}  // namespace
}  // namespace headlight
