// A study in parts, by other processes and elsewhere: what is gathered is what one process prints, byte for byte.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>

#include "app/program.h"
#include "study/study.h"

namespace headlight {
namespace {

using namespace program;
using fixture::golden;

constexpr int kPairCount = 7;

/// Pairs of ids, which the golden GPT-2 reads.
std::string csv_of_ids() {
  std::string text = "clean,corrupt\n";
  for (int i = 0; i < kPairCount; ++i)
    text += "\"5 " + std::to_string(10 + i) + " 12 9\",\"5 " + std::to_string(30 + i) + " 12 9\"\n";
  return text;
}

Strings study_of(const std::string& model, const std::string& pairs, const Strings& more, const char* format = "csv") {
  Strings words{"patch", model, "--at", "heads", "--control", "random:2", "--pairs", pairs, "--format", format};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class Shards : public ::testing::Test {
 protected:
  const Folder folder;
  const std::string model = golden("gpt2").string(), pairs = folder.with("pairs.csv", csv_of_ids());
  const std::string study = (folder / "study").string();

  Ran asked(const Strings& more, const char* format = "csv") const {
    return program::run(study_of(model, pairs, more, format));
  }
  Ran shard(const std::string& part) const { return asked({"--resume", study, "--shard", part}); }
};

TEST_F(Shards, GatheredAreWhatOneProcessPrints) {
  for (const char* part : {"2/3", "0/3", "1/3"}) {
    const Ran ran = shard(part);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(ran.out.empty());
    EXPECT_TRUE(contains(ran.err, std::string("rows-") + part[0] + "-of-3.jsonl: shard " + part)) << ran.err;
  }
  for (const char* format : {"csv", "json", "text", "npz"}) {
    const Ran gathered = asked({"--gather", study}, format), whole = asked({}, format);
    EXPECT_EQ(gathered.status, 0) << gathered.err;
    EXPECT_EQ(gathered.out, whole.out) << format;
    EXPECT_EQ(gathered.err, whole.err);
  }
  EXPECT_EQ(asked({"--gather", study, "--threads", "1"}).out, asked({"--threads", "2"}).out);
  // A file of one process and the files of shards are the same study.
  EXPECT_EQ(asked({"--resume", study}).out, asked({}).out);
  EXPECT_EQ(asked({"--resume", (folder / "one.jsonl").string()}).out, asked({}).out);
  EXPECT_EQ(asked({"--gather", (folder / "one.jsonl").string()}).out, asked({}).out);
}

TEST_F(Shards, AShardThatIsRunAgainGoesOnWhereItEnded) {
  EXPECT_EQ(shard("0/2").status, 0);
  const std::string file = study + "/rows-0-of-2.jsonl", rows = *read_file(file);
  ASSERT_EQ(lines_of(rows), 4);
  // Killed within the third row, a line damaged before.
  std::string cut = rows.substr(0, rows.rfind('\n', rows.size() - 2) - 20);
  cut.replace(cut.find('\n') + 3, 5, "#####");
  ASSERT_TRUE(write_file(file, cut));
  const Ran again = shard("0/2");
  EXPECT_EQ(again.status, 0);
  EXPECT_TRUE(contains(again.err, "line 2: expected a row, found damage")) << again.err;
  EXPECT_EQ(shard("1/2").status, 0);
  EXPECT_EQ(asked({"--gather", study}).out, asked({}).out);
  const std::string before = *read_file(file);
  EXPECT_EQ(shard("0/2").status, 0);
  EXPECT_EQ(*read_file(file), before) << "nothing is computed twice";
}

TEST_F(Shards, WhatIsMissingIsNamed) {
  EXPECT_EQ(shard("0/3").status, 0);
  EXPECT_EQ(shard("2/3").status, 0);
  const Ran gathered = asked({"--gather", study});
  EXPECT_EQ(gathered.status, 1);
  EXPECT_TRUE(gathered.out.empty());
  EXPECT_EQ(gathered.err, "warning: " + study + ": rows: expected 7, found 5: rows 2, 5 missing\n");
  const Ran partial = asked({"--gather", study, "--gather-partial"}, "json");
  EXPECT_EQ(partial.status, 0);
  EXPECT_TRUE(partial.err.starts_with(gathered.err)) << partial.err;
  EXPECT_EQ(json::parse(partial.out, nullptr, false)["pairs"], 5);
  EXPECT_TRUE(contains(refused(study_of(model, pairs, {"--gather", (folder / "none").string()})),
                       "none: expected rows of a study, found none"));
  EXPECT_EQ(asked({"--gather", study, "--metric", "kl"}).status, 1) << "the rows are of another question";
}

TEST_F(Shards, APairThatTheFileHasTwiceCountsTwice) {
  ASSERT_TRUE(write_file(pairs, csv_of_ids() + "5 10 12 9,5 30 12 9\n5 10 12 9,5 30 12 9\n"));
  const std::string whole = asked({}).out;
  for (const char* part : {"0/2", "1/2"}) EXPECT_EQ(shard(part).status, 0);
  EXPECT_EQ(asked({"--gather", study}).out, whole);
  EXPECT_TRUE(contains(program::run({"study", study}).out, "9 of 9 rows"));
  EXPECT_EQ(program::run({"study", study, "--format", "csv"}).out, whole);
}

TEST_F(Shards, AFileOfPairsMayChange) {
  EXPECT_EQ(asked({"--resume", study}).status, 0);
  const std::string first = csv_of_ids(), head = first.substr(0, first.find('\n') + 1);
  std::string others = first.substr(head.size());
  others.replace(others.find("11"), 2, "21");  // of the second row
  ASSERT_TRUE(write_file(pairs, head + "5 9 12 9,5 8 12 9\n" + others));
  const std::string whole = asked({}).out;
  EXPECT_EQ(asked({"--resume", study}).out, whole);
  EXPECT_TRUE(contains(program::run({"study", study}).out, "8 of 8 rows"));
  EXPECT_EQ(program::run({"study", study, "--format", "csv"}).out, whole);
  const std::string kept = *read_file(study);
  EXPECT_EQ(asked({"--resume", study}).out, whole);
  EXPECT_EQ(*read_file(study), kept);
}

/// Rows of the same clean sentences that are kept already are not those of other corrupt ones, or of other answers.
TEST_F(Shards, AnotherCorruptSentenceOrAnswerIsAnotherRow) {
  const std::string sentence = "我请李雷帮我", rest = "最好的", kept = (folder / "rows.jsonl").string();
  const auto answers = [&](const std::string& verb, const std::string& right, const std::string& wrong) {
    const std::string file = folder.with("answers.csv", "clean,corrupt,right,wrong\n" + sentence + "喝了" + rest + "," +
                                                            sentence + verb + rest + "," + right + "," + wrong + "\n");
    const Strings asked{"patch", "shipped:decoder", "--at", "heads", "--pairs", file, "--format", "csv"};
    Strings resumed = asked;
    resumed.insert(resumed.end(), {"--resume", kept});
    const Ran fresh = program::run(asked);
    EXPECT_EQ(fresh.status, 0) << fresh.err;
    EXPECT_EQ(program::run(resumed).out, fresh.out) << verb << " " << right << " " << wrong;
    return fresh.out;
  };
  const std::string first = answers("看了", "牛奶", "比赛");
  EXPECT_NE(answers("订了", "牛奶", "比赛"), first);
  EXPECT_NE(answers("看了", "牛奶", "球赛"), first);
  EXPECT_NE(answers("看了", "咖啡", "比赛"), first);
}

TEST_F(Shards, TheWeightsAreTheModelNotItsPath) {
  const std::string here = (folder / "here").string(), elsewhere = (folder / "elsewhere").string();
  for (const std::string& to : {here, elsewhere}) std::filesystem::copy(model, to);
  const std::string kept = (folder / "rows.jsonl").string();
  const auto of = [&](const std::string& of_model, const Strings& more) {
    const Ran ran = program::run(study_of(of_model, pairs, more));
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.out;
  };
  const std::string before = of(here, {"--resume", kept});
  const std::string rows = *read_file(kept);
  EXPECT_EQ(of(elsewhere, {"--resume", kept}), before);
  EXPECT_EQ(*read_file(kept), rows) << "the same model under another path is found";
  // Other weights of the same shape under the same path: every number is of them.
  std::string weights = *read_file(here + "/model.safetensors");
  const std::size_t at = weights.size() - 64;
  for (std::size_t i = 0; i < 60; i += 4) weights[at + i + 1] = static_cast<char>(weights[at + i + 1] ^ 0x40);
  ASSERT_TRUE(write_file(here + "/model.safetensors", weights));
  const std::string truth = of(here, {});
  EXPECT_NE(truth, before);
  EXPECT_EQ(of(here, {"--resume", kept}), truth);
  EXPECT_EQ(of(elsewhere, {"--resume", kept}), before) << "both are kept";
  EXPECT_EQ(program::run(study_of(here, pairs, {"--gather", kept})).out, truth);
}

TEST_F(Shards, TheBaselineIsItsTextNotItsPath) {
  const std::string base = folder.with("base.txt", "5 7 8 9\n"), kept = (folder / "rows.jsonl").string();
  const auto effects = [&](const Strings& more) {
    Strings words{
        "heads",      "shipped:decoder", "--effect", "--pairs", folder.with("one.csv", "clean\n我请李雷帮我\n"),
        "--baseline", "mean:" + base,    "--format", "csv"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = program::run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.out;
  };
  ASSERT_TRUE(write_file(base, "我请李雷\n"));
  const std::string before = effects({"--resume", kept});
  ASSERT_TRUE(write_file(base, "他喝了牛奶\n"));
  EXPECT_NE(effects({}), before);
  EXPECT_EQ(effects({"--resume", kept}), effects({}));
}

TEST_F(Shards, SaysHowFarItIs) {
  EXPECT_EQ(shard("0/2").status, 0);
  const Ran text = program::run({"study", study});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "4 of 7 rows; model ")) << text.out;
  EXPECT_TRUE(contains(text.out, "rows-0-of-2.jsonl  4 rows")) << text.out;
  EXPECT_TRUE(contains(text.out, "patch " + model + " --at heads")) << text.out;
  EXPECT_EQ(shard("1/2").status, 0);
  const json all = json::parse(program::run({"study", study, "--format", "json"}).out, nullptr, false);
  EXPECT_EQ(all["studies"][0]["rows"], 7);
  EXPECT_EQ(all["studies"][0]["pairs"], 7);
  EXPECT_EQ(all["studies"][0]["files"].size(), 2u);
  EXPECT_TRUE(contains(refused({"study", (folder / "none").string()}), "none: expected what --resume wrote"));
}

/// The file is run as Slurm runs it: with the variables of an array, then once more to gather.
TEST_F(Shards, TheBatchFileOfSlurmDoesAllOfIt) {
  const Ran whole = asked({});
  EXPECT_EQ(shard("0/1").status, 0);
  const Ran batch = program::run({"study", study, "--slurm", "3"});
  EXPECT_EQ(batch.status, 0) << batch.err;
  EXPECT_TRUE(batch.out.starts_with("#!/bin/bash\n#SBATCH --job-name=headlight-study\n#SBATCH --array=0-2\n"))
      << batch.out;
  std::filesystem::remove_all(study);
  const std::string file = folder.with("study.sbatch", batch.out);
  const std::string in_folder = "cd '" + folder.path().string() + "' && HEADLIGHT='" HEADLIGHT_PROGRAM "' ";
  for (const char* task : {"0", "1", "2"})
    EXPECT_EQ(std::system((in_folder + "SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_ID=" + task + " bash '" + file +
                           "' 2>/dev/null")
                              .c_str()),
              0);
  EXPECT_EQ(std::system((in_folder + "GATHER=1 bash '" + file + "'").c_str()), 0);
  EXPECT_EQ(*read_file(folder / "study.csv"), whole.out);
}

/// RFC 4180: of a field in quotation marks two of them are one, and commas and ends of lines are its own.
TEST(StudyPairs, AFieldInQuotationMarksIsReadAsItWasWritten) {
  const Folder folder;
  const std::string file = folder.with(
      "pairs.csv",
      "clean,corrupt,right\r\n\"he said \"\"yes\"\", twice\",\"a\nb\",\"\"\"\"\r\nplain,\"\"\"x\"\"\",\"\"\n");
  std::vector<Error> problems;
  const auto pairs = read_pairs(file, true, problems);
  ASSERT_TRUE(pairs) << pairs.error().message();
  EXPECT_TRUE(problems.empty());
  ASSERT_EQ(pairs->size(), 2u);
  EXPECT_EQ((*pairs)[0].clean, R"(he said "yes", twice)");
  EXPECT_EQ((*pairs)[0].corrupt, "a\nb");
  EXPECT_EQ((*pairs)[0].right, R"(")");
  EXPECT_EQ((*pairs)[1].corrupt, R"("x")");
  EXPECT_EQ((*pairs)[1].right, "");
}

TEST(ShardText, IsAPartOrTheArraysOwn) {
  const auto part = [](const std::string& text) {
    const auto shard = parse_shard(text);
    return shard && *shard ? std::to_string((*shard)->index) + "/" + std::to_string((*shard)->count)
           : shard         ? ""
                           : shard.error().message();
  };
  EXPECT_EQ(part("3/8"), "3/8");
  for (const std::string wrong : {"8/8", "-1/8", "1", "a/b", "1/", "/2", "0/0", "0/100001", "1/2/3"})
    EXPECT_EQ(part(wrong), "--shard: expected I/N with I from 0 to N - 1, or slurm, found " + wrong);
  EXPECT_TRUE(contains(part("slurm"), "expected SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT"));
  ::setenv("SLURM_ARRAY_TASK_ID", "12", 1), ::setenv("SLURM_ARRAY_TASK_COUNT", "4", 1);
  ::setenv("SLURM_ARRAY_TASK_MIN", "10", 1), ::setenv("SLURM_ARRAY_TASK_STEP", "2", 1);
  EXPECT_EQ(part("slurm"), "1/4");
  ::setenv("SLURM_ARRAY_TASK_ID", "40", 1);
  EXPECT_TRUE(contains(part("slurm"), "expected an array of neighbouring numbers"));
  for (const char* name : {"ID", "COUNT", "MIN", "STEP"}) ::unsetenv((std::string("SLURM_ARRAY_TASK_") + name).c_str());
}

}  // namespace
}  // namespace headlight
