// Neurons: patched one by one, and where they are most active. tests/oracle computes the same numbers again in numpy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "app/program.h"
#include "read/array/npz.h"

namespace headlight {
namespace {

using namespace program;
using fixture::golden;

const std::string kClean = "我请李雷帮我喝了最好的", kCorrupt = "我请李雷帮我看了最好的";

Strings neurons_patched(Strings words) {
  Strings all{"patch", "shipped:decoder", "--text", kClean, "--from", "--text " + kCorrupt};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

json read_json(Strings words) {
  words.insert(words.end(), {"--format", "json"});
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return json::parse(ran.out, nullptr, false);
}

/// Neurons of one layer change the same numbers: together they do what each of them does, added up before the norm.
TEST(Neurons, AreDrawnAtRandomFromTheirLayers) {
  const Strings asked = neurons_patched({"--at", "neurons", "--at-neurons", "1.3,1.7", "--control", "random:3"});
  const json found = read_json(asked)["control"];
  EXPECT_EQ(found["places"], 2);
  EXPECT_EQ(found["random"].size(), 3u);
  EXPECT_TRUE(contains(refused(neurons_patched({"--at", "neurons", "--control", "random:1"})),
                       "--control: expected neurons of one layer"));
  const json alone = read_json(neurons_patched({"--at", "neurons", "--at-neurons", "1.3", "--control", "random:1"}));
  EXPECT_NEAR(alone["control"]["together"].get<double>(), alone["cells"][0]["restored"].get<double>(), 1e-6);
}

TEST(Neurons, EachIsACellWithItsNumber) {
  const json some = read_json(neurons_patched({"--at", "neurons", "--at-neurons", "0.3,1.*", "--at-layers", "0"}));
  ASSERT_EQ(some["cells"].size(), 1u);
  EXPECT_EQ(some["cells"][0]["neuron"], 3);
  EXPECT_FALSE(some["cells"][0].contains("head"));
  EXPECT_TRUE(contains(run(neurons_patched({"--at", "neurons", "--at-neurons", "0.3"})).out, "L0·N3"));
  const json estimate = read_json(neurons_patched({"--at", "neurons", "--estimate", "4"}));
  EXPECT_GT(estimate["estimate"]["correlation"].get<double>(), 0.8);
  EXPECT_EQ(estimate["estimate"]["patched"], 8);
  EXPECT_TRUE(contains(refused(neurons_patched({"--at", "neurons", "--at-neurons", "0.99999"})),
                       "--at-neurons: neuron: expected 0 to "));
  for (const Strings& neurons : {Strings{}, Strings{"--at-neurons", "0.1"}}) {
    Strings words{"patch",  "shipped:induction",    "--text", "du fa ke du",
                  "--from", "--text 'du fa du ke'", "--at",   "neurons"};
    words.insert(words.end(), neurons.begin(), neurons.end());
    EXPECT_TRUE(contains(refused(words), "--at-neurons: expected neurons of a feed-forward")) << "it has none";
  }
}

TEST(Neurons, AStudyOfThemIsDrawn) {
  const Folder folder;
  const std::string pairs = folder.with("p.csv", "clean,corrupt\n" + kClean + "," + kCorrupt + "\n");
  const std::string rows = (folder / "rows").string();
  const Ran ran = run({"patch", "shipped:decoder", "--pairs", pairs, "--at", "neurons", "--at-neurons", "0.3,1.7",
                       "--resume", rows, "--format", "csv"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("what,layer,neuron,token,")) << ran.out;
  EXPECT_EQ(run({"figure", rows, "-o", (folder / "x.svg").string()}).status, 0);
}

TEST(Neurons, AreListedWhereTheyAreMostActive) {
  const Strings asked{"neurons", "shipped:decoder", "--text", kClean + "\n" + kCorrupt, "--top", "3"};
  const json most = read_json(asked);
  ASSERT_EQ(most["neurons"].size(), 10u);
  EXPECT_EQ(most["sentences"], 2);
  double last = 1e9;
  for (const json& one : most["neurons"]) {
    ASSERT_EQ(one["top"].size(), 3u);
    EXPECT_GE(last, one["top"][0]["activation"].get<double>());
    last = one["top"][0]["activation"].get<double>();
    EXPECT_GE(one["top"][0]["activation"].get<double>(), one["top"][1]["activation"].get<double>());
  }
  Strings all = asked;
  all.insert(all.end(), {"--at-layers", "0", "--format", "npz"});
  const Folder folder;
  const auto arrays = read_npz(folder.with("x.npz", run(all).out));
  ASSERT_TRUE(arrays) << arrays.error().message();
  const std::vector<Index> shape = arrays->arrays.at("top").shape;
  EXPECT_EQ(shape[1], 3);
  EXPECT_EQ(arrays->arrays.at("neurons").shape[0], shape[0]);
  EXPECT_TRUE(contains(run(asked).out, "["));
  EXPECT_TRUE(run({"neurons", "shipped:decoder", "--text", kClean, "--at-neurons", "1.4", "--format", "csv"})
                  .out.starts_with("stack,layer,neuron,mean,activation,sentence,token,text\nself,1,4,"));
}

TEST(Neurons, RefuseWhatIsNotThere) {
  const auto refusal = [](Strings words) {
    words.insert(words.begin(), {"neurons", "shipped:decoder", "--text", kClean});
    return refused(words);
  };
  EXPECT_TRUE(contains(refusal({"--at-neurons", "7.0"}), "--at-neurons: expected neurons of the model"));
  EXPECT_TRUE(contains(refusal({"--at-layers", "9"}), "--at-layers: expected 0 to 1, found 9"));
  EXPECT_TRUE(contains(refusal({"--at-neurons", "x"}), "LAYER."));
  EXPECT_TRUE(contains(refused({"neurons", golden("family-mixtral").string(), "--ids", "1,2,3"}), "without experts"));
}

}  // namespace
}  // namespace headlight
