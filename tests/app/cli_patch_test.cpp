// `patch`: parts of one answer inside another.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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
  EXPECT_EQ(arrays->arrays.at("restored_map").shape, (std::vector<Index>{2, 8}));
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

TEST(CliPatch, TheMetricIsChosen) {
  EXPECT_EQ(patched({"--at", "heads", "--answers", "比赛,牛奶"})["metric"], "logit difference 比赛 − 牛奶");
  EXPECT_EQ(patched({"--at", "heads", "--metric", "probability"})["metric"], "probability of 牛奶");
  const json kl = patched({"--at", "residual", "--at-layers", "1", "--metric", "kl"});
  EXPECT_EQ(kl["clean"], 0);
  EXPECT_GT(kl["corrupt"].get<double>(), 0);
  EXPECT_NEAR(kl["cells"][7]["restored"].get<double>(), 1, 1e-6);
  const json rank = patched({"--at", "heads", "--metric", "rank"});
  EXPECT_EQ(rank["clean"], 1);
  EXPECT_GT(rank["corrupt"].get<double>(), 1);
  EXPECT_EQ(rank["tokens"].size(), 8u);
  // An earlier word: only what stands before it has an effect.
  const json earlier = patched({"--at", "residual", "--at-layers", "0", "--query", "6", "--metric", "kl"});
  EXPECT_EQ(earlier["cells"][7]["restored"], 0);
}

TEST(CliPatch, BothDirectionsAndRandomPlaces) {
  const json both = patched({"--at", "residual", "--at-layers", "1", "--direction", "both"});
  EXPECT_NEAR(both["cells"][7]["restored"].get<double>(), 1, 1e-5);
  EXPECT_NEAR(both["cells"][7]["lost"].get<double>(), 1, 1e-5);
  const json chosen = patched({"--at", "residual", "--at-layers", "1", "--at-tokens", "6,7", "--control", "random:8"});
  EXPECT_EQ(chosen["control"]["places"], 2);
  EXPECT_EQ(chosen["control"]["random"].size(), 8u);
  EXPECT_NEAR(chosen["control"]["together"].get<double>(), 1, 1e-5);
  const json whole = patched({"--at", "heads", "--control", "random:5"});
  EXPECT_EQ(whole["control"]["places"], 1);
  EXPECT_TRUE(whole["control"]["together"].is_null());
  for (const json& drawn : whole["control"]["random"])
    EXPECT_TRUE(std::any_of(whole["cells"].begin(), whole["cells"].end(), [&](const json& cell) {
      return cell["restored"] == drawn;
    })) << "a place of the map";
}

/// A head writes to everything above it: through all readers at once, and nothing else, that is its effect.
TEST(CliPatch, AllPathsOfAHeadAreItsEffectWhereNothingElseReadsIt) {
  const json alone = patched({"--at", "heads", "--at-heads", "1.*"});
  const json paths = patched({"--from-head", "1.*", "--to", "output"});
  ASSERT_EQ(paths["cells"].size(), 8u);
  for (std::size_t head = 0; head < 8; ++head)
    EXPECT_NEAR(paths["cells"][head]["restored"].get<double>(), alone["cells"][head]["restored"].get<double>(), 1e-6)
        << "above the last layer there is no other reader";
  const json key = patched({"--from-head", "0.*", "--to", "1.3:k"});
  EXPECT_EQ(key["cells"].size(), 8u);
  double most = 0;
  for (const json& cell : key["cells"]) most = std::max(most, std::abs(cell["restored"].get<double>()));
  EXPECT_GT(most, 0);
}

/// Every reader of a head is a path of its own.
TEST(CliPatch, AllReadersOfAHead) {
  const json all = patched({"--from-head", "0.5", "--to", "all"});
  ASSERT_EQ(all["cells"].size(), 3u * 8 + 1);
  for (const auto& [at, to, part] : {std::tuple(0, "1.0:q", "q"), {13, "1.4:k", "k"}, {24, "output", "output"}}) {
    EXPECT_EQ(all["cells"][at]["part"], part);
    EXPECT_EQ(all["cells"][at]["restored"], patched({"--from-head", "0.5", "--to", to})["cells"][0]["restored"]);
  }
  EXPECT_EQ(all["cells"][24]["layer"], nullptr);
}

/// A baseline of the corrupt sentence alone, position for position, is the corrupt answer's part.
TEST(CliPatch, ABaselineStandsInPlaceOfTheCorruptPart) {
  const Folder folder;
  const std::string corrupt = folder.with("corrupt.txt", kCorruptText + "\n");
  for (const std::string kind : {"position:", "resample:"})
    for (const char* at : {"heads", "v", "residual"}) {
      const json by_file = patched({"--at", at, "--baseline", kind + corrupt})["cells"];
      const json noise = patched({"--at", at, "--direction", "noise"})["cells"];
      ASSERT_EQ(by_file.size(), noise.size());
      for (std::size_t i = 0; i < noise.size(); ++i)
        EXPECT_NEAR(by_file[i]["lost"].get<double>(), noise[i]["lost"].get<double>(), 1e-6) << kind << at;
    }
}

/// A figure of a patch means the same by the same words: A, the clean one, is the question, B that of --against.
TEST(CliPatch, AFigureOfTheSameWordsIsOfTheSameQuestions) {
  const Folder folder;
  const Ran ran = run({"figure", "shipped:decoder", "--view", "patch", "--text", kCleanText, "--against",
                       "--text " + kCorruptText, "--no-caption", "-o", (folder / "patch.svg").string()});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string caption = *read_file(folder / "patch.txt");
  EXPECT_TRUE(caption.starts_with("A: " + kCleanText + "  B: " + kCorruptText)) << caption;
}

/// A stack's name is taken or refused, never dropped, and a stack that is not there is one line.
TEST(CliPatch, NamesOfStacksAreTakenOrRefused) {
  const Strings two{"patch",    "shipped:translator",
                    "--text",   "我请李雷",
                    "--target", "I asked Li",
                    "--from",   "--text 我请他 --target \"I asked him\"",
                    "--format", "json"};
  const auto cells = [&](const Strings& more) {
    Strings words = two;
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return json::parse(ran.out, nullptr, false)["cells"];
  };
  const json self = cells({"--from-head", "0.1", "--to", "output"}),
             cross = cells({"--from-head", "cross:0.1", "--to", "output"}),
             both = cells({"--from-head", "0.1,cross:0.1", "--to", "output"});
  EXPECT_NE(self[0]["restored"], cross[0]["restored"]);
  EXPECT_EQ(cross, cells({"--from-head", "0.1", "--to", "output", "--stack", "cross"}));
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1], cross[0]);
  EXPECT_EQ(both[0]["stack"], "self");
  EXPECT_EQ(cells({"--at", "heads", "--at-heads", "cross:0.1"}),
            cells({"--at", "heads", "--at-heads", "0.1", "--stack", "cross"}));
  for (const Strings& more : {Strings{"--from-head", "0.1", "--to", "output", "--stack", "encoder"},
                              {"--from-head", "0.1", "--to", "1.0:k", "--stack", "cross"}})
    EXPECT_TRUE(
        contains(refused(patching(more)), "--stack: expected a stack that this model has, found " + more.back()));
  EXPECT_TRUE(contains(refused(patching({"--from-head", "encoder:0.1", "--to", "output"})),
                       "--from-head: expected a stack that this model has, found encoder:0.1"));
  EXPECT_TRUE(contains(refused(patching({"--from-head", "0.1", "--to", "cross:1.1"})),
                       "--to: expected a head of a stack that this model has, found cross:1.1"));
  EXPECT_TRUE(contains(refused(patching({"--from-head", "0.1", "--to", "1.1@group"})),
                       "--to: expected LAYER.HEAD, with :q, :k or :v behind it, or :k@group"));
}

TEST(CliPatch, RefusesInOneLine) {
  EXPECT_TRUE(contains(refused(patching({"--at", "everything"})), "--at"));
  EXPECT_TRUE(
      contains(refused(patching({"--at", "heads", "--at-layers", "5"})), "--at-layers: expected 0 to 1, found 5"));
  EXPECT_TRUE(contains(refused(patching({"--at", "heads", "--at-heads", "x"})), "--at-heads: expected LAYER.HEAD"));
  for (const Strings& more : {Strings{}, Strings{"--estimate", "1", "--format", "npz"}}) {
    Strings words = patching({"--at", "heads", "--at-heads", "0.1", "--at-layers", "1"});
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_TRUE(contains(refused(words), "--at-heads: expected a head of the layers of --at-layers, found none"));
  }
  EXPECT_TRUE(contains(
      refused({"patch", "shipped:decoder", "--text", kCleanText, "--from", "--text " + kCleanText, "--at", "heads"}),
      "patch: expected a question with another answer, found the same probability of "));
  EXPECT_TRUE(contains(
      refused({"patch", "shipped:decoder", "--text", kCleanText, "--from", "shipped:encoder", "--at", "heads"}),
      "--from"));
  EXPECT_TRUE(contains(refused(patching({"--at", "heads", "--at", "q"})), "--at: expected it once, found 2 times"));
  EXPECT_TRUE(contains(refused({"patch", "--at", "heads"}), "patch: expected --from or --pairs, found neither"));
  EXPECT_TRUE(contains(refused(patching({})), "patch: expected --at, or --from-head and --to, found neither"));
  EXPECT_TRUE(contains(refused(patching({"--at", "heads", "--answers", "no such"})),
                       "--answers: expected a word of the vocabulary (one token), or its id, found 'no such'"));
  EXPECT_TRUE(contains(refused(patching({"--at", "heads", "--query", "99"})), "--query: expected 0 to 7, found 99"));
  EXPECT_TRUE(contains(refused({"patch", "shipped:decoder", "--ids", "5,6,7", "--from", "--ids 8,9", "--at", "heads"}),
                       "--from: tokens: expected some that both sentences have (--align), found none"));
  EXPECT_TRUE(contains(refused(patching({"--from-head", "1.0", "--to", "1.2"})),
                       "--from-head: expected a head of a layer below L1·H2"));
  EXPECT_TRUE(contains(refused(patching({"--from-head", "0.0"})), "--from-head: expected --to beside it"));
}

}  // namespace
}  // namespace headlight
