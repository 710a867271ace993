// `why` and `lens`: a score and a logit split over what wrote the residual stream.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "app/program.h"
#include "read/array/npz.h"

namespace headlight {
namespace {

using namespace program;
using fixture::golden;

json object_of(const Strings& words) {
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json object = json::parse(ran.out, nullptr, false);
  EXPECT_TRUE(object.is_object()) << ran.out.substr(0, 200);
  return object;
}

double sum_of_terms(const json& list, const char* field) {
  double sum = 0;
  for (const json& term : list) sum += term[field].get<double>();
  return sum;
}

void expect_close(double a, double b) { EXPECT_NEAR(a, b, 1e-4 * std::max(1.0, std::abs(b))); }

const Strings kCell{"--head", "1.2", "--query", "4", "--key", "1"};

Strings with_cell(Strings words) {
  words.insert(words.end(), kCell.begin(), kCell.end());
  return words;
}

TEST(CliWhy, TermsSumToTheScoreThatExplainTells) {
  for (const Strings& source : {Strings{}, {"--arch", "decoder"}, {"shipped:any-sentence", "--text", "他爱他的猫。"}}) {
    Strings words = with_cell({"why", "--format", "json"});
    words.insert(words.end(), source.begin(), source.end());
    const json why = object_of(words);
    expect_close(sum_of_terms(why["terms"], "value"), why["score"].get<double>());
    expect_close(why["sum"].get<double>(), why["score"].get<double>());
    words[0] = "explain";
    const json steps = json::parse(run(words).out, nullptr, false);
    for (const json& step : steps)
      if (step["name"] == "scores") expect_close(why["score"].get<double>(), step["value"].get<double>());
    EXPECT_EQ(why["terms"][0]["query"], "embedding");
    EXPECT_TRUE(std::any_of(why["terms"].begin(), why["terms"].end(),
                            [](const json& term) { return term["query"] == "L0·H3" && term["key"] == "L0·ffn"; }));
  }
}

TEST(CliWhy, BeginsWithWhyThisWordAndNotItsRival) {
  const Strings trophy{"--text",  "The trophy doesn't fit in the suitcase because it is too big.",
                       "--head",  "3.7",
                       "--query", "12",
                       "--key",   "2"};
  Strings asked{"why", "--format", "json"};
  asked.insert(asked.end(), trophy.begin(), trophy.end());
  const json rivals = object_of(asked)["rivals"];
  EXPECT_EQ(rivals["word"], "trophy");
  EXPECT_EQ(rivals["rival"], "suitcase");
  const double difference = rivals["difference"];
  expect_close(difference, std::log(rivals["weight"].get<double>() / rivals["rival_weight"].get<double>()));
  expect_close(sum_of_terms(rivals["lines"], "value") + rivals["rest"].get<double>(), difference);
  asked[2] = "text";
  const std::string text = run(asked).out;
  EXPECT_TRUE(text.starts_with("Why “trophy” and not “suitcase”: 94 % to 6.1 %")) << text;
  // What stands without a writer is what the same question gives with it off.
  for (const json& line : rivals["lines"]) {
    if (line["weight_without"].is_null() || line["writer"].get<std::string>().find("ffn") != std::string::npos)
      continue;
    Strings off{"why", "--format", "json", "--off", line["writer"].get<std::string>()};
    off.insert(off.end(), trophy.begin(), trophy.end());
    const json other = object_of(off)["rivals"];
    const bool same = other["word"] == "trophy";
    expect_close(line["weight_without"], other[same ? "weight" : "rival_weight"]);
  }
}

TEST(CliWhy, OfASinkIsTheMeanOfAllRows) {
  const Strings text{"--text", "a b c d", "--random", "--arch", "decoder", "--d-model", "16", "--num-heads", "2"};
  const auto asked = [&](Strings words) {
    words.insert(words.end(), text.begin(), text.end());
    return object_of(words);
  };
  const json why = asked({"why", "--head", "1.1", "--sink", "--format", "json"});
  const json heads = asked({"heads", "--format", "json"});
  const json head = *std::find_if(heads["heads"].begin(), heads["heads"].end(),
                                  [](const json& one) { return one["layer"] == 1 && one["head"] == 1; });
  EXPECT_EQ(why["key"], head["sink_key"]);
  double sum = 0;
  const int key = why["key"], rows = why["rows"], tokens = key + rows;
  for (int query = key; query < tokens; ++query)
    sum += asked({"why", "--head", "1.1", "--query", std::to_string(query), "--key", std::to_string(key), "--format",
                  "json"})["score"]
               .get<double>();
  expect_close(why["score"].get<double>(), sum / rows);
  expect_close(sum_of_terms(why["terms"], "value"), why["sum"].get<double>());
  EXPECT_TRUE(contains(refused({"why", "--head", "1.1", "--query", "0"}), "--key: expected a token, or --sink"));
}

TEST(CliWhy, EveryFormatHasTheSameTerms) {
  const json why = object_of(with_cell({"why", "--format", "json"}));
  const Ran csv = run(with_cell({"why", "--format", "csv"}));
  EXPECT_EQ(csv.out.substr(0, csv.out.find('\n')), "query,key,value");
  EXPECT_EQ(static_cast<std::size_t>(lines_of(csv.out)), why["terms"].size() + 1);
  EXPECT_TRUE(contains(csv.out, "\nL0·H3,L0·ffn,"));
  const Folder folder;
  const std::string file = folder.with("why.npz", "");
  EXPECT_EQ(run(with_cell({"why", "--format", "npz"}), "", file.c_str()).status, 0);
  const auto arrays = read_npz(file);
  ASSERT_TRUE(arrays) << arrays.error().message();
  const Array& terms = arrays->arrays.at("terms");
  ASSERT_EQ(static_cast<std::size_t>(terms.shape[0] * terms.shape[1]), why["terms"].size());
  EXPECT_EQ(arrays->arrays.at("query_writers").shape[0], terms.shape[0]);
  for (std::size_t i = 0; i < terms.values.size(); ++i)  // row by row, a row for each writer of the query
    ASSERT_NEAR(static_cast<double>(terms.values[i]), why["terms"][i]["value"].get<double>(), 1e-6) << i;
  const Ran text = run(with_cell({"why", "--top", "3"}));
  EXPECT_EQ(text.err, "");
  const int rivals = 2 + static_cast<int>(why["rivals"]["lines"].size()) + 1 + 1;
  EXPECT_EQ(lines_of(text.out), rivals + 2 + 1 + 1 + 3 + 1) << text.out;
  EXPECT_TRUE(contains(text.out, "self, L1·H2, query 4, key 1\n"));
  EXPECT_TRUE(contains(text.out, "the other " + std::to_string(why["terms"].size() - 3) + "\n"));
}

TEST(CliWhy, ABlockedScoreIsTheOneBeforeTheMask) {
  const Strings words{"why", "--arch", "decoder", "--head", "1.2", "--query", "1", "--key", "4"};
  EXPECT_TRUE(contains(run(words).out, "(before the mask, which blocks it)"));
}

TEST(CliWhy, RefusesInOneLine) {
  EXPECT_TRUE(contains(refused({"why", "--head", "1.2", "--query", "4", "--key", "99"}), "--key: expected 0 to "));
  EXPECT_TRUE(contains(refused({"why", "--head", "7.0", "--query", "4", "--key", "1"}), "--layer: expected 0 to 1"));
  EXPECT_TRUE(
      contains(refused({"why", "--head", "1.2", "--query", "4"}), "--key: expected a token, or --sink, found none"));
  EXPECT_EQ(refused(small({"why", "--random", "--softcap", "20", "--tokens", "a|b|c", "--head", "0.1", "--query", "2",
                           "--key", "1"})),
            "why: SOURCE: expected scores that are sums, found a soft cap (tanh), which is not linear\n");
  const Folder folder;
  const std::string file = folder.with("a.json", run(small({"export", "--random", "--tokens", "a|b"})).out);
  EXPECT_TRUE(
      contains(refused({"why", file, "--head", "0.0", "--query", "1", "--key", "0"}), "another program computed"));
}

TEST(CliLens, EndsInWhatNextSays) {
  for (const Strings& source :
       {Strings{"shipped:decoder", "--text", "我请李雷帮"}, {"--text", "我请李雷帮我<mask>去北京的机票"}}) {
    Strings words{"lens", "--format", "json", "--top", "3"};
    words.insert(words.end(), source.begin(), source.end());
    const json lens = object_of(words);
    words[0] = "next";
    const json next = object_of(words);
    ASSERT_EQ(lens["layers"].size(), 2u);
    EXPECT_EQ(lens["layers"][0]["layer"], 0);
    EXPECT_EQ(lens["layers"][1]["top"], next["next_token"]);
    EXPECT_EQ(lens["query"], next["place"]["query"]);
    EXPECT_EQ(lens["word"], next["next_token"][0]);
    expect_close(sum_of_terms(lens["attribution"], "logit"), lens["logit"].get<double>());
    expect_close(lens["sum"].get<double>(), lens["logit"].get<double>());
    EXPECT_EQ(lens["attribution"][0]["from"], "embedding");
  }
}

/// Two words' terms differ by their logits; a head that is off adds nothing.
TEST(CliLens, SplitsTheWordThatIsAskedFor) {
  const Strings words{"lens", "shipped:decoder", "--text", "我请李雷帮", "--format", "json", "--token", "北京"};
  EXPECT_EQ(object_of(words)["word"]["text"], "北京");
  Strings off = words;
  off.insert(off.end(), {"--off", "1.3"});
  const json without = object_of(off);
  for (const json& term : without["attribution"])
    if (term["from"] == "L1·H3") { EXPECT_EQ(term["logit"], 0.0); }
  EXPECT_EQ(object_of({"lens", "shipped:decoder", "--text", "我请李雷帮", "--format", "json", "--query", "1"})["query"],
            1);
}

/// A cap is not linear: what sums up is the logit before it, and metrics beside it are of the logits after it.
TEST(CliLens, OfCappedLogitsSaysThatTheSplitIsBeforeTheCap) {
  const auto as = [](const char* format) {
    return Strings{"lens", golden("family-gemma2").string(), "--ids", "5,44,12,12,7", "--format", format};
  };
  const json lens = object_of(as("json"));
  EXPECT_EQ(lens["softcap"], 3.0);
  expect_close(sum_of_terms(lens["attribution"], "logit"), lens["logit"].get<double>());
  EXPECT_FALSE(object_of({"lens", "shipped:decoder", "--text", "我请", "--format", "json"}).contains("softcap"));
  EXPECT_TRUE(contains(run(as("text")).out, ", before the soft cap of the logits: "));
  const std::string csv = run(as("csv")).out;
  EXPECT_TRUE(contains(csv, "\nuncapped_logit,") && !contains(csv, "\nlogit,")) << csv;
}

TEST(CliLens, EveryFormatHasTheSameNumbers) {
  const Strings asked{"lens", "shipped:decoder", "--text", "我请李雷帮", "--top", "2", "--format"};
  const auto as = [&](const char* format) {
    Strings words = asked;
    words.push_back(format);
    return words;
  };
  const json lens = object_of(as("json"));
  const Ran csv = run(as("csv")), text = run(as("text"));
  EXPECT_EQ(static_cast<std::size_t>(lines_of(csv.out)), 1 + 2 * 2 + lens["attribution"].size());
  EXPECT_TRUE(contains(csv.out, "\nlogit,,,L1·H3,"));
  EXPECT_TRUE(contains(text.out, "\nlayer 1  0.")) << text.out;
  EXPECT_TRUE(contains(text.out, "  L1·ffn\n"));
  const Folder folder;
  const std::string file = folder.with("lens.npz", "");
  EXPECT_EQ(run(as("npz"), "", file.c_str()).status, 0);
  const auto arrays = read_npz(file);
  ASSERT_TRUE(arrays) << arrays.error().message();
  EXPECT_EQ(arrays->arrays.at("probabilities").shape, (std::vector<Index>{2, 2}));
  EXPECT_EQ(static_cast<std::size_t>(arrays->arrays.at("attribution").shape[0]), lens["attribution"].size());
}

/// BERT's output layer follows a layer with an activation: the lens reads its words, but no share of a head is defined.
TEST(CliLens, SaysWhereNothingCanBeToldApart) {
  const Ran ran = run({"lens", golden("family-roberta").string(), "--ids", "5,9,3", "--format", "json"});
  EXPECT_EQ(ran.status, 0);
  const json lens = json::parse(ran.out, nullptr, false);
  EXPECT_TRUE(lens["attribution"].empty() && !lens["layers"].empty());
  EXPECT_TRUE(contains(ran.err, "warning: lens: attribution: expected an output layer that is linear"));
}

/// The metric after the last layer is that of the answer; of kl it is 0 there.
TEST(CliLens, MeasuresEachLayer) {
  const Strings asked{"lens", "shipped:decoder", "--text", "我请李雷帮", "--format", "json", "--metric"};
  const auto by = [&](const Strings& more) {
    Strings words = asked;
    words.insert(words.end(), more.begin(), more.end());
    return object_of(words);
  };
  const json rank = by({"rank"}), likely = by({"probability"}), kl = by({"kl"});
  EXPECT_EQ(rank["layers"][1]["metric"], 1.0);
  EXPECT_EQ(rank["metric"], "rank of " + rank["word"]["text"].get<std::string>());
  EXPECT_EQ(likely["layers"][1]["metric"], likely["word"]["probability"]);
  EXPECT_NEAR(kl["layers"][1]["metric"].get<double>(), 0, 1e-6);
  EXPECT_GT(kl["layers"][0]["metric"].get<double>(), 1e-3);
  const json two = by({"logit-difference", "--answers", "北京,我"});
  expect_close(two["layers"][1]["metric"].get<double>(), two["logit"].get<double>());
  EXPECT_TRUE(contains(refused({"lens", "shipped:decoder", "--text", "我请", "--metric", "logit-difference"}),
                       "--metric logit-difference: expected two words"));
}

TEST(CliLens, RefusesInOneLine) {
  EXPECT_EQ(refused({"lens", golden("bert").string(), "--ids", "5,9"}),
            "lens: output layer: expected a model with scores over a vocabulary, found none\n");
  EXPECT_EQ(refused({"lens", "shipped:decoder", "--text", "我请", "--token", "qqq"}),
            "--token: expected a word of the vocabulary (one token), or its id, found 'qqq'\n");
  EXPECT_TRUE(
      contains(refused({"lens", "shipped:decoder", "--text", "我请", "--query", "9"}), "--query: expected 0 to "));
}

}  // namespace
}  // namespace headlight
