// `./run bench`: what it prints, never how fast.
#include <gtest/gtest.h>

#include "app/program.h"
#include "bench/bench.h"

namespace headlight {
namespace {

using namespace program;

Ran bench(const Strings& words, const BenchSuite::Run& draw = {}) {
  std::vector<const char*> arguments{HEADLIGHT_PROGRAM};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Ran ran;
  ran.status = run_bench(static_cast<int>(arguments.size()), arguments.data(), draw);
  ran.out = testing::internal::GetCapturedStdout();
  ran.err = testing::internal::GetCapturedStderr();
  return ran;
}

json bench_of(Strings words) {
  words.insert(words.end(), {"--rounds", "1", "--format", "json"});
  const Ran ran = bench(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json object = json::parse(ran.out, nullptr, false);
  EXPECT_TRUE(object.is_object()) << ran.out;
  return object;
}

/// The rows but those of what the processor can do at most.
std::vector<json> rows_of(const json& object) {
  std::vector<json> rows;
  for (const json& row : object["rows"])
    if (!row["name"].get<std::string>().starts_with("peak/")) rows.push_back(row);
  return rows;
}

TEST(Bench, SaysTheMachineAndARowForEachSizeAndNumberOfThreads) {
  const json object = bench_of({"attention", "--longest", "10", "--threads", "2"});
  EXPECT_GE(object["machine"]["threads"], 1);
  EXPECT_TRUE(object["machine"]["cpu"].is_string());
  const auto rows = rows_of(object);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(object["rows"].size(), 4u) << "peak/fma and peak/read beside them";
  EXPECT_EQ(rows[0]["name"], "attention/T=10/d=64/h=4");
  EXPECT_EQ(rows[1]["name"], "attention/T=10/d=512/h=8");
  for (const json& row : rows) {
    EXPECT_GT(row["share"], 0.0);
    EXPECT_EQ(row["threads"], 2);
    EXPECT_GT(row["median_us"], 0.0);
    EXPECT_LE(row["low_us"], row["median_us"]);
    EXPECT_LE(row["median_us"], row["high_us"]);
    EXPECT_GT(row["gflops"], 0.0);
  }
}

TEST(Bench, MeasuresEveryFormatOfAnExport) {
  const json object = bench_of({"export", "--longest", "4", "--threads", "1"});
  ASSERT_EQ(object["rows"].size(), 5u);
  EXPECT_EQ(object["rows"][0]["name"], "export/json/heads=144/T=4");
  for (const json& row : object["rows"]) EXPECT_GT(row["mb_per_s"], 0.0);
}

TEST(Bench, MeasuresOnlyTheRowsThatAreNamed) {
  const json attention = bench_of({"attention", "--only", "T=10/d=512", "--threads", "1"});
  const auto rows = rows_of(attention);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["name"], "attention/T=10/d=512/h=8");
  const json files = bench_of({"export", "--longest", "4", "--threads", "2", "--only", "json"});
  ASSERT_EQ(files["rows"].size(), 1u);
  EXPECT_EQ(files["rows"][0]["name"], "export/json/heads=144/T=4");
  EXPECT_EQ(files["rows"][0]["threads"], 2);
  EXPECT_TRUE(bench_of({"growth", "--only", "nothing of this name"})["rows"].empty());
}

TEST(Bench, MeasuresWholeCommandsThatOpenACheckpoint) {
  const json object = bench_of({"open", "--only", "bert-small", "--threads", "2"});
  ASSERT_GE(object["rows"].size(), 1u);
  const json& row = object["rows"][0];
  EXPECT_EQ(row["name"], "open/bert-small");
  EXPECT_EQ(row["threads"], 2);
  EXPECT_GT(row["median_us"], 0.0);
  EXPECT_GT(row["peak_mb"], 1.0);
  EXPECT_TRUE(bench_of({"open", "--only", "nothing of this name"})["rows"].empty());
}

TEST(Bench, PrintsATableForPeople) {
  const Ran ran = bench({"train", "--rounds", "1", "--threads", "1"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "train/d=64/h=4/layers=2/batch=64x16")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "tokens/s")) << ran.out;
}

TEST(Bench, AProgramWithoutTheWindowSaysThatItCannotDraw) {
  const Ran ran = bench({"draw"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.err, "bench draw: this program was built without the window\n");
}

TEST(Bench, HandsOnWhatIsAskedOfDrawingAndPrintsItsRows) {
  BenchOptions asked;
  const auto draw = [&](const BenchOptions& options) -> Result<BenchReport> {
    asked = options;
    return BenchReport{.rows = {{.name = "draw/change/colours", .time = {2e-3, 1e-3, 3e-3}, .uploads = 0}},
                       .exponents = {}};
  };
  const Ran ran =
      bench({"draw", "--rounds", "2", "--longest", "7", "--only", "draw/", "--threads", "1", "--format", "json"}, draw);
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json row = json::parse(ran.out)["rows"][0];
  EXPECT_EQ(asked.rounds, 2);
  EXPECT_EQ(asked.longest, 7);
  EXPECT_EQ(asked.only, "draw/");
  EXPECT_EQ(asked.threads, std::vector<int>{1});
  EXPECT_EQ(row["name"], "draw/change/colours");
  EXPECT_EQ(row["median_us"], 2000.0);
  EXPECT_EQ(row["uploads"], 0);
}

TEST(Bench, RefusesASuiteThatIsNotThere) {
  for (const Strings& words : {Strings{"nothing"}, Strings{"attention", "--threads", "0"}}) {
    const Ran ran = bench(words);
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(lines_of(ran.err), 1) << ran.err;
    EXPECT_TRUE(contains(ran.err, words.back())) << ran.err;
  }
}

TEST(Bench, NeedsAFolderForTemporaryFiles) {
  const Folder folder;
  for (const std::string& temporary :
       {(folder / "missing").string(), folder.with("file", "mine"), std::string("/proc")})
    for (const char* suite : {"export", "open"}) {
      const fixture::Variable variable("TMPDIR", temporary.c_str());
      const Ran ran = bench({suite, "--rounds", "1", "--longest", "16"});
      EXPECT_EQ(ran.status, 2) << temporary << " " << suite;
      EXPECT_EQ(lines_of(ran.err), 1) << ran.err;
      EXPECT_TRUE(ran.err.starts_with("TMPDIR " + temporary + ": expected a writable folder, found")) << ran.err;
    }
}

}  // namespace
}  // namespace headlight
