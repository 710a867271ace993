// `headlight bench`: what it prints, never how fast.
#include <gtest/gtest.h>

#include "app/program.h"

namespace headlight {
namespace {

using namespace program;

json measured(Words words) {
  words.insert(words.begin(), "bench");
  words.insert(words.end(), {"--rounds", "1", "--format", "json"});
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json object = json::parse(ran.out, nullptr, false);
  EXPECT_TRUE(object.is_object()) << ran.out;
  return object;
}

TEST(CliBench, SaysTheMachineAndARowForEachSizeAndNumberOfThreads) {
  const json object = measured({"attention", "--longest", "10", "--threads", "2"});
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
  const json object = measured({"export", "--longest", "4"});
  ASSERT_EQ(object["rows"].size(), 5u);
  EXPECT_EQ(object["rows"][0]["name"], "export/json/heads=144/T=4");
  for (const json& row : object["rows"]) EXPECT_GT(row["mb_per_s"], 0.0);
}

TEST(CliBench, PrintsATableForPeople) {
  const Ran ran = run({"bench", "train", "--rounds", "1", "--threads", "1"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "train/d=64/h=4/layers=2/batch=64x16")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "tokens/s")) << ran.out;
}

TEST(CliBench, RefusesASuiteThatIsNotThere) {
  EXPECT_TRUE(contains(refused({"bench", "nothing"}), "nothing"));
  refused({"bench", "attention", "--threads", "0"});
}

}  // namespace
}  // namespace headlight
