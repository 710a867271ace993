#include <gtest/gtest.h>

#include <cmath>

#include "app/program.h"

namespace headlight {
namespace {

using namespace program;
using fixture::golden;

Strings explain(Strings words, const Strings& place = {"--layer", "0", "--head", "1", "--query", "2", "--key", "1"}) {
  Strings all{"explain"};
  all.insert(all.end(), words.begin(), words.end());
  all.insert(all.end(), place.begin(), place.end());
  return all;
}

json steps(const Strings& words) {
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json list = json::parse(ran.out, nullptr, false);
  EXPECT_TRUE(list.is_array()) << ran.out.substr(0, 200);
  return list;
}

const json& step(const json& list, const std::string& name) {
  static const json none{{"value", nullptr}, {"shape", nullptr}, {"matrix", nullptr}, {"terms", json::array()}};
  for (const json& one : list)
    if (one["name"] == name) return one;
  ADD_FAILURE() << "no step " << name;
  return none;
}

TEST(Explain, ARowThatMayAttendToNothingHasThreeAnswers) {
  const Folder folder;
  const std::string mask = folder.with("mask.json", "[[1, 1, 0], [0, 0, 0], [1, 1, 1]]");
  const auto weight_line = [&](const char* query) {
    const Ran ran = run(explain(small({"--tokens", "a|b|c", "--mask", mask}),
                                {"--layer", "0", "--head", "1", "--query", query, "--key", "0"}));
    const std::size_t at = ran.out.find("\nweight  ");
    EXPECT_NE(at, std::string::npos) << ran.out << ran.err;
    return at == std::string::npos ? std::string() : ran.out.substr(at, ran.out.find("\n\n", at) - at);
  };
  EXPECT_NE(weight_line("1").find("0 here, NaN of -inf and the softmax, 0.333333 of -1e9 and the softmax"),
            std::string::npos)
      << weight_line("1");
  EXPECT_EQ(weight_line("0").find("softmax, "), std::string::npos) << weight_line("0");
}

TEST(Explain, EndsInTheNumbersThatExportWrites) {
  const Strings asked = small({"--text", kSentence, "--mask", "causal"});
  const json list = steps(explain(small({"--text", kSentence, "--mask", "causal", "--format", "json"})));
  const json object = exported(asked);
  const float weight = object["attention"][0]["attn"][0][1][2][1].get<float>();
  EXPECT_EQ(step(list, "weight")["value"].get<float>(), weight);
  const auto tokens = object["tokens"].size();
  EXPECT_EQ(step(list, "weight")["shape"], json({tokens, tokens}));
  EXPECT_EQ(step(list, "q")["shape"], json({tokens, 4}));
  EXPECT_EQ(step(list, "W_Q")["shape"], json({4, 8}));
  ASSERT_EQ(step(list, "W_Q")["value"].size(), 4u);
  EXPECT_EQ(step(list, "W_Q")["value"][0].size(), 8u);
  EXPECT_EQ(step(list, "scores")["matrix"], "encoder.0.self.1.scores");
}

TEST(Explain, HasTermsThatMakeUpTheirNumbers) {
  const json list = steps(explain(small({"--text", kSentence, "--format", "json"})));
  double dot = 0, sum = 0;
  for (const json& term : step(list, "products")["terms"])
    dot += term["value"].get<double>() * term["factor"].get<double>();
  EXPECT_NEAR(dot, step(list, "dot")["value"].get<double>(), 1e-6);
  ASSERT_EQ(step(list, "products")["terms"].size(), 4u);
  EXPECT_EQ(step(list, "products")["terms"][3]["from"], "q[3]");
  EXPECT_EQ(step(list, "products")["terms"][3]["times"], "k[3]");
  for (const json& value : step(list, "exponentials")["value"]) sum += value.get<double>();
  EXPECT_NEAR(sum, step(list, "sum")["value"].get<double>(), 1e-6);
  const json& weight = step(list, "weight")["terms"];
  ASSERT_EQ(weight.size(), 2u);
  EXPECT_NEAR(weight[0]["value"].get<double>() / weight[1]["value"].get<double>(),
              step(list, "weight")["value"].get<double>(), 1e-7);
}

TEST(Explain, WritesABlockedScoreAsAString) {
  const json list = steps(explain(small({"--text", kSentence, "--mask", "causal", "--format", "json"}),
                                  {"--layer", "0", "--head", "0", "--query", "0", "--key", "2"}));
  EXPECT_EQ(step(list, "mask")["value"], "-inf");
  EXPECT_EQ(step(list, "scores")["value"], "-inf");
  EXPECT_EQ(step(list, "weight")["value"].get<float>(), 0.0f);
}

TEST(Explain, WritesForPeopleUnderTheTwoWords) {
  const Ran ran = run(explain(small({"--tokens", "机票|订了|b"})));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out.substr(0, ran.out.find('\n')), "b → 订了");
  for (const char* part : {"\nx_query  (3, 8)", "\nq  (3, 4)", "\nproducts  (1, 4)", "\nweight  (3, 3)",
                           "\noutput  (3, 8)", "self, L0·H1, query 2, key 1"})
    EXPECT_TRUE(contains(ran.out, part)) << part;
  // Two columns for each Chinese character: the tokens end where their numbers do.
  EXPECT_TRUE(contains(
      ran.out, "\n    " + std::string(8, ' ') + "机票" + std::string(8, ' ') + "订了" + std::string(11, ' ') + "b\n"));
  for (std::size_t begin = 0; begin < ran.out.size();) {
    const std::size_t end = ran.out.find('\n', begin);
    EXPECT_LE(end - begin, 120u) << ran.out.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(Explain, TellsTheSoftmaxsGradientWithTheScaleAndWithoutIt) {
  const Strings asked = small({"--text", kSentence, "--format", "json"});
  const json list = steps(explain(asked));
  Strings off = asked;
  off.insert(off.end(), {"--off", "scale:0"});
  const json without = steps(explain(off));
  double squares = 0, cubes = 0;
  for (const json& exponential : step(list, "exponentials")["value"]) {
    const double a = exponential.get<double>() / step(list, "sum")["value"].get<double>();
    squares += a * a, cubes += a * a * a;
  }
  EXPECT_NEAR(step(list, "gradient")["value"].get<double>(), std::sqrt(squares - 2 * cubes + squares * squares), 1e-6);
  EXPECT_EQ(step(list, "gradient")["terms"][0]["value"], 0.5) << "1/√4";
  EXPECT_EQ(step(list, "gradient_unscaled")["value"], step(without, "gradient")["value"]);
  EXPECT_EQ(step(without, "gradient_scaled")["value"], step(list, "gradient")["value"]);
  EXPECT_NE(step(list, "gradient")["value"], step(without, "gradient")["value"]);
}

TEST(Explain, SaysHowFarTheWordsAreFromEachOther) {
  const auto third_line = [](const Strings& words, const Strings& place) {
    const Ran ran = run(explain(words, place));
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::size_t first = ran.out.find('\n'), second = ran.out.find('\n', first + 1);
    return ran.out.substr(second + 1, ran.out.find('\n', second + 1) - second - 1);
  };
  const Strings words = small({"--tokens", "a|b|c|d|e"});
  EXPECT_EQ(third_line(words, {"--head", "0.0", "--query", "4", "--key", "0"}),
            "4 steps through an RNN, 2 layers of convolutions of width 3, 1 here");
  EXPECT_EQ(third_line(words, {"--head", "0.0", "--query", "2", "--key", "2"}), "");
  EXPECT_EQ(
      third_line(small({"--tokens", "a|b|c", "--mask", "causal"}), {"--head", "0.0", "--query", "0", "--key", "1"}),
      "1 step through an RNN, 1 layer of convolutions of width 3, blocked here");
  const Strings translated{"shipped:translator", "--text", "我请李雷帮我订了", "--target", "I asked"};
  Strings padded = translated;
  padded.insert(padded.end(), {"--pad", "2"});
  const Strings place{"--head", "cross:0.1", "--query", "1", "--key", "3"};
  EXPECT_EQ(third_line(translated, place), "4 steps through an RNN, 1 here");
  EXPECT_EQ(third_line(padded, place), "2 steps through an RNN, 1 here") << "padding is not read";
}

TEST(Explain, OfAnotherLengthNothingIsCompared) {
  Strings words = small({"--tokens", "a|b|c"});
  std::string against = "--tokens a|b";
  for (std::size_t i = 2; i < words.size(); ++i) against += " " + words[i];
  words.insert(words.end(), {"--against", against});
  const Ran ran = run(explain(words, {"--head", "0.1", "--query", "1", "--key", "0"}));
  EXPECT_TRUE(ran.out.ends_with("\nmoved  nothing is compared: --against has another length\n")) << ran.out << ran.err;
}

TEST(Explain, NamesTheRowsThatAChangedWordMoves) {
  const Strings asked = small({"--tokens", "a|b|c|d|e"});
  std::string against = "--tokens a|b|x|d|e";
  for (std::size_t i = 2; i < asked.size(); ++i) against += " " + asked[i];
  Strings words = asked;
  words.insert(words.end(), {"--against", against});
  const Strings place{"--head", "0.1", "--query", "4", "--key", "0"};
  const Ran ran = run(explain(words, place));
  EXPECT_EQ(ran.status, 0) << ran.err;
  for (const char* line :
       {"\nmoved  ", "self.1.query         1 of 5: 2\n", "self.1.scores        5 of 5: 0 1 2 3 4\n", "self.1.z"})
    EXPECT_TRUE(contains(ran.out, line)) << line << ran.out.substr(ran.out.find("\nmoved"));
  EXPECT_FALSE(contains(ran.out, "query.weight  ")) << "what is learned does not move";
  words.insert(words.end(), {"--format", "json"});
  const json list = steps(explain(words, place));
  EXPECT_EQ(step(list, "q")["moved"], json::array({2}));
  EXPECT_EQ(step(list, "z")["moved"], json::array({0, 1, 2, 3, 4}));
  EXPECT_FALSE(step(list, "W_Q").contains("moved"));
  EXPECT_FALSE(step(steps(explain(small({"--tokens", "a|b", "--format", "json"}),
                                  {"--head", "0.0", "--query", "0", "--key", "0"})),
                    "q")
                   .contains("moved"));
}

TEST(Explain, ComparesOneSentenceWithOne) {
  const Ran ran = run(explain(small({"--text", "a b\nc d", "--against", ""})));
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(contains(ran.err, "--against: expected one sentence to compare, found 2")) << ran.err;
}

TEST(Explain, WrapsAfterEightNumbers) {
  const Ran ran = run(explain({"--text", kSentence, "--d-model", "20", "--num-heads", "2", "--layers", "1"}));
  EXPECT_EQ(ran.status, 0) << ran.err;
  const std::size_t begin = ran.out.find("\nx_query");
  const std::string part = ran.out.substr(begin + 1, ran.out.find("\n\n", begin) - begin);
  EXPECT_EQ(lines_of(part), 4) << part;  // the name, and 20 numbers
}

TEST(Explain, WorksForEveryArchitectureAndFile) {
  const Strings two =
      small({"--arch", "encoder-decoder", "--text", kSentence, "--target", "a b c d", "--format", "json"});
  for (const char* stack : {"self", "encoder", "cross"}) {
    Strings words = two;
    words.insert(words.end(), {"--stack", stack});
    const json list = steps(explain(words));
    EXPECT_EQ(step(list, "weight")["matrix"], std::string(std::string(stack) == "encoder" ? "encoder" : "decoder") +
                                                  ".0." + (std::string(stack) == "cross" ? "cross" : "self") +
                                                  ".1.weights");
  }
  const std::string file = (golden("tensors-cross-4x6") / "input.safetensors").string();
  const json list = steps(explain({file, "--format", "json"}));
  EXPECT_EQ(step(list, "weight")["shape"], json({4, 6}));
}

TEST(Explain, AnswersEachSentenceOfABatch) {
  const Ran ran = run(explain(small({"--text", "a b c\nd e f"})));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "c → b\n"));
  EXPECT_TRUE(contains(ran.out, "\nf → e\n"));
}

TEST(Explain, RefusesWhatIsNotThereInOneLine) {
  const auto at = [](const char* layer, const char* head, const char* query, const char* key) {
    return refused(explain(small({"--random", "--text", "a b c"}),
                           {"--layer", layer, "--head", head, "--query", query, "--key", key}));
  };
  EXPECT_EQ(at("1", "0", "0", "0"), "--layer: expected 0 to 0, found 1\n");
  EXPECT_EQ(at("0", "2", "0", "0"), "--head: expected 0 to 1, found 2\n");
  EXPECT_TRUE(contains(at("0", "0", "9", "0"), "--query: expected 0 to "));
  EXPECT_TRUE(contains(at("0", "0", "0", "9"), "--key: expected 0 to "));
  EXPECT_TRUE(contains(refused(explain(small({"--random", "--text", "a b c", "--stack", "cross"}))), "--stack"));
  refused(explain(small({"--random", "--text", "a b c", "--stack", "sideways"})));
  EXPECT_TRUE(contains(refused({"explain", "--text", "a b c", "--layer", "0"}), "required"));
  EXPECT_EQ(refused(explain(small({"--random", "--text", "a b c"}), {"--head", "1", "--query", "0", "--key", "0"})),
            "--head: expected LAYER.HEAD, or --layer beside it, found 1\n");
  EXPECT_EQ(run(explain(small({"--random", "--text", "a b c"}), {"--head", "L0·H1", "--query", "2", "--key", "1"})).out,
            run(explain(small({"--random", "--text", "a b c"}))).out);
}

}  // namespace
}  // namespace headlight
