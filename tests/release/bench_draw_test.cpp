// `./run bench draw`: its rows, never how fast.
#if HEADLIGHT_GUI
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "bench/draw.h"
#include "gl/offscreen.h"

namespace headlight {
namespace {

std::map<std::string, BenchRow> drawn(const std::string& only) {
  const auto report = bench_draw({.threads = {1}, .rounds = 1, .longest = 10, .only = only});
  EXPECT_TRUE(report) << report.error().message();
  std::map<std::string, BenchRow> rows;
  if (!report) return rows;
  for (const BenchRow& row : report->rows) {
    EXPECT_GT(row.time.median, 0) << row.name;
    EXPECT_LE(row.time.low, row.time.median) << row.name;
    EXPECT_LE(row.time.median, row.time.high) << row.name;
    EXPECT_TRUE(rows.emplace(row.name, row).second) << row.name << " twice";
  }
  return rows;
}

class BenchDraw : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto surface = Offscreen::open(16, 16); !surface) GTEST_SKIP() << surface.error().message();
  }
};

TEST_F(BenchDraw, MeasuresFramesWithAndWithoutTheRendererAndARectangleACell) {
  const auto rows = drawn("T=10");
  for (const char* name : {"draw/frame/heads=144/T=10", "draw/own/heads=144/T=10", "draw/frame/heads=48/T=10",
                           "draw/frame/head/T=10", "draw/rectangles/heads=144/T=10", "draw/rectangles-own/head/T=10"})
    EXPECT_TRUE(rows.contains(name)) << name;
  ASSERT_TRUE(rows.contains("draw/own/heads=144/T=10"));
  EXPECT_LT(rows.at("draw/own/heads=144/T=10").time.low, rows.at("draw/frame/heads=144/T=10").time.high);
}

TEST_F(BenchDraw, AnotherLookSendsNothingToTheGraphicsCard) {
  const auto rows = drawn("draw/change");
  ASSERT_EQ(rows.size(), 3u);
  for (const auto& [name, row] : rows) EXPECT_EQ(row.uploads, 0) << name;
}

TEST_F(BenchDraw, PressesAKeyUntilItsAnswerIsSeen) {
  const auto rows = drawn("draw/key");
  ASSERT_EQ(rows.size(), 1u) << "the other asks about more tokens than were wished";
  EXPECT_EQ(rows.begin()->first, "draw/key/shipped/T=10");
}

}  // namespace
}  // namespace headlight
#endif
