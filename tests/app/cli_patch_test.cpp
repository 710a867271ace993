// `patch`: parts of one answer inside another.
#include <gtest/gtest.h>

#include <string>

#include "app/program.h"
#include "read/array/npz.h"

namespace headlight {
namespace {

using namespace program;

const std::string kCleanText = "我请李雷帮我喝了最好的", kCorruptText = "我请李雷帮我看了最好的";

Strings patching(Strings words) {
  Strings all{"patch", "shipped:decoder", "--text", kCleanText, "--from", "--text " + kCorruptText};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

json patched(const Strings& words) {
  Strings all = patching(words);
  all.insert(all.end(), {"--format", "json"});
  const Ran ran = run(all);
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json object = json::parse(ran.out, nullptr, false);
  EXPECT_TRUE(object.is_object()) << ran.out.substr(0, 200);
  return object;
}

TEST(CliPatch, TheLastStreamOfTheLastTokenRestoresAll) {
  const json answer = patched({"--at", "residual", "--at-layers", "1"});
  ASSERT_EQ(answer["cells"].size(), 8u);
  for (const json& cell : answer["cells"]) {
    EXPECT_EQ(cell["layer"], 1);
    EXPECT_TRUE(cell["head"].is_null());
    EXPECT_NEAR(cell["restored"].get<double>(), cell["token"] == 7 ? 1 : 0, 1e-5);
  }
  EXPECT_EQ(answer["metric"], "logit difference 牛奶 − 比赛");
  EXPECT_GT(answer["clean"].get<double>(), 0);
  EXPECT_LT(answer["corrupt"].get<double>(), 0);
}

TEST(CliPatch, ACellAHeadOrAHeadAndAToken) {
  const json heads = patched({"--at", "heads"});
  ASSERT_EQ(heads["cells"].size(), 16u);
  EXPECT_EQ(heads["cells"][11]["layer"], 1);
  EXPECT_EQ(heads["cells"][11]["head"], 3);
  EXPECT_TRUE(heads["cells"][11]["token"].is_null());
  EXPECT_EQ(patched({"--at", "q", "--at-heads", "0.3,1.*", "--at-tokens", "6,7"})["cells"].size(), 2u * 9);
  EXPECT_EQ(patched({"--at", "pattern", "--at-tokens", "all", "--at-layers", "0"})["cells"].size(), 64u);
}

TEST(CliPatch, EveryFormatHasTheSameCells) {
  const json answer = patched({"--at", "v"});
  const Ran csv = run(patching({"--at", "v", "--format", "csv"})), text = run(patching({"--at", "v"}));
  EXPECT_EQ(csv.out.substr(0, csv.out.find('\n')), "layer,head,token,restored");
  EXPECT_EQ(static_cast<std::size_t>(lines_of(csv.out)), answer["cells"].size() + 1);
  EXPECT_TRUE(contains(text.out, "restored by v of the clean answer, 0 nothing, 1 all:\n"));
  EXPECT_TRUE(contains(text.out, "  L1·H0\n"));
  const Folder folder;
  const std::string file = folder.with("patch.npz", "");
  EXPECT_EQ(run(patching({"--at", "v", "--format", "npz"}), "", file.c_str()).status, 0);
  const auto arrays = read_npz(file);
  ASSERT_TRUE(arrays) << arrays.error().message();
  EXPECT_EQ(static_cast<std::size_t>(arrays->arrays.at("restored").shape[0]), answer["cells"].size());
}

TEST(CliPatch, SentencesOfDifferentLengthMeetInTheirCommonWords) {
  const Strings words{"patch", "shipped:decoder", "--text", kCleanText, "--from", "--text 我帮李雷", "--at"};
  const auto with = [&](Strings more) {
    Strings all = words;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  EXPECT_EQ(run(with({"residual"})).status, 0);
  EXPECT_TRUE(contains(refused(with({"pattern"})), "--from: tokens: expected as many as the other sentence has"));
}

TEST(CliPatch, RefusesInOneLine) {
  EXPECT_TRUE(contains(refused(patching({"--at", "everything"})), "--at"));
  EXPECT_TRUE(
      contains(refused(patching({"--at", "heads", "--at-layers", "5"})), "--at-layers: expected 0 to 1, found 5"));
  EXPECT_TRUE(contains(refused(patching({"--at", "heads", "--at-heads", "x"})), "--at-heads: expected LAYER.HEAD"));
  EXPECT_TRUE(contains(
      refused({"patch", "shipped:decoder", "--text", kCleanText, "--from", "--text " + kCleanText, "--at", "heads"}),
      "--from: expected a question with another answer, found the same probability of "));
  EXPECT_TRUE(contains(
      refused({"patch", "shipped:decoder", "--text", kCleanText, "--from", "shipped:encoder", "--at", "heads"}),
      "--from"));
  EXPECT_TRUE(contains(refused({"patch", "--at", "heads"}), "--from is required"));
}

}  // namespace
}  // namespace headlight
