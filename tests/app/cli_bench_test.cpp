// `headlight bench`: what it prints, never how fast.
#include <gtest/gtest.h>

#include "app/program.h"
#include "cli/cli.h"

namespace headlight {
namespace {

using namespace program;

json bench_of(Strings words) {
  words.insert(words.begin(), "bench");
  words.insert(words.end(), {"--rounds", "1", "--format", "json"});
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json object = json::parse(ran.out, nullptr, false);
  EXPECT_TRUE(object.is_object()) << ran.out;
  return object;
}

TEST(CliBench, SaysTheMachineAndARowForEachSizeAndNumberOfThreads) {
  const json object = bench_of({"attention", "--longest", "10", "--threads", "2"});
  EXPECT_GE(object["machine"]["threads"], 1);
  EXPECT_TRUE(object["machine"]["cpu"].is_string());
  ASSERT_EQ(object["rows"].size(), 2u);
  EXPECT_EQ(object["rows"][0]["name"], "attention/T=10/d=64/h=4");
  EXPECT_EQ(object["rows"][1]["name"], "attention/T=10/d=512/h=8");
  for (const json& row : object["rows"]) {
    EXPECT_EQ(row["threads"], 2);
    EXPECT_GT(row["median_us"], 0.0);
    EXPECT_LE(row["low_us"], row["median_us"]);
    EXPECT_LE(row["median_us"], row["high_us"]);
    EXPECT_GT(row["gflops"], 0.0);
  }
}

TEST(CliBench, MeasuresEveryFormatOfAnExport) {
  const json object = bench_of({"export", "--longest", "4", "--threads", "1"});
  ASSERT_EQ(object["rows"].size(), 5u);
  EXPECT_EQ(object["rows"][0]["name"], "export/json/heads=144/T=4");
  for (const json& row : object["rows"]) EXPECT_GT(row["mb_per_s"], 0.0);
}

TEST(CliBench, MeasuresOnlyTheRowsThatAreNamed) {
  const json attention = bench_of({"attention", "--only", "T=10/d=512", "--threads", "1"});
  ASSERT_EQ(attention["rows"].size(), 1u);
  EXPECT_EQ(attention["rows"][0]["name"], "attention/T=10/d=512/h=8");
  const json files = bench_of({"export", "--longest", "4", "--threads", "2", "--only", "json"});
  ASSERT_EQ(files["rows"].size(), 1u);
  EXPECT_EQ(files["rows"][0]["name"], "export/json/heads=144/T=4");
  EXPECT_EQ(files["rows"][0]["threads"], 2);
  EXPECT_TRUE(bench_of({"growth", "--only", "nothing of this name"})["rows"].empty());
}

TEST(CliBench, MeasuresWholeCommandsThatOpenACheckpoint) {
  const json object = bench_of({"open", "--only", "bert-small", "--threads", "2"});
  ASSERT_GE(object["rows"].size(), 1u);
  const json& row = object["rows"][0];
  EXPECT_EQ(row["name"], "open/bert-small");
  EXPECT_EQ(row["threads"], 2);
  EXPECT_GT(row["median_us"], 0.0);
  EXPECT_GT(row["peak_mb"], 1.0);
  EXPECT_TRUE(bench_of({"open", "--only", "nothing of this name"})["rows"].empty());
}

TEST(CliBench, PrintsATableForPeople) {
  const Ran ran = run({"bench", "train", "--rounds", "1", "--threads", "1"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "train/d=64/h=4/layers=2/batch=64x16")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "tokens/s")) << ran.out;
}

TEST(CliBench, AProgramWithoutTheWindowSaysThatItCannotDraw) {
  const char* const words[] = {"headlight", "bench", "draw"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_command_line(3, words, Frontend{}), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "headlight bench draw: this program was built without the window\n");
}

TEST(CliBench, HandsOnWhatIsAskedOfDrawingAndPrintsItsRows) {
  BenchOptions asked;
  Frontend frontend;
  frontend.bench_draw = [&](const BenchOptions& options) -> Result<BenchReport> {
    asked = options;
    return BenchReport{.rows = {{.name = "draw/change/colours", .time = {2e-3, 1e-3, 3e-3}, .uploads = 0}},
                       .exponents = {}};
  };
  const char* const words[] = {"headlight", "bench", "draw",      "--rounds", "2",        "--longest", "7",
                               "--only",    "draw/", "--threads", "1",        "--format", "json"};
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_command_line(13, words, frontend), 0);
  const json row = json::parse(testing::internal::GetCapturedStdout())["rows"][0];
  EXPECT_EQ(asked.rounds, 2);
  EXPECT_EQ(asked.longest, 7);
  EXPECT_EQ(asked.only, "draw/");
  EXPECT_EQ(asked.threads, std::vector<int>{1});
  EXPECT_EQ(row["name"], "draw/change/colours");
  EXPECT_EQ(row["median_us"], 2000.0);
  EXPECT_EQ(row["uploads"], 0);
}

TEST(CliBench, RefusesASuiteThatIsNotThere) {
  EXPECT_TRUE(contains(refused({"bench", "nothing"}), "nothing"));
  refused({"bench", "attention", "--threads", "0"});
}

}  // namespace
}  // namespace headlight
