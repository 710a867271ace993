#include "figure/drawing/grid_layout.h"

#include "app/figures.h"
#include "base/random.h"

namespace headlight {
namespace {

constexpr float kLeast = 90, kMost = 420, kExtra = 24, kGap = 10;

GridLayout grid(float width, float height, Index layers, Index heads) {
  return layout_grid(width, height, layers, heads, kLeast, kMost, kExtra, kGap);
}

TEST(GridLayout, AllHeadsHavePlacesOfTheirOwnInsideTheContent) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const Index layers = static_cast<Index>(1 + random.next() % 6), heads = static_cast<Index>(1 + random.next() % 16);
    const float width = 100 + 1500 * random.uniform(), height = 100 + 900 * random.uniform();
    const GridLayout layout = grid(width, height, layers, heads);
    std::vector<Box> places;
    for (Index layer = 0; layer < layers; ++layer)
      for (Index head = 0; head < heads; ++head) places.push_back(layout.place({layer, head}));
    for (std::size_t a = 0; a < places.size(); ++a) {
      ASSERT_GE(places[a].x, 0);
      ASSERT_LE(places[a].right(), width + 1e-2f) << i;
      ASSERT_LE(places[a].bottom(), layout.content_height + 1e-2f) << i;
      for (std::size_t b = 0; b < a; ++b) ASSERT_FALSE(figures::overlap(places[a], places[b])) << i;
    }
    ASSERT_LE(layout.width, kMost);
    ASSERT_EQ(layout.height, layout.width + kExtra);
    ASSERT_TRUE(layout.width >= 0.87f * kLeast || width < kLeast);
    ASSERT_TRUE(layout.height <= height + 1e-2f || layout.width <= kLeast) << "each map can be seen whole";
  }
}

TEST(GridLayout, ColumnsStandApartWhereTheAreaIsWide) {
  const GridLayout layout = grid(1000, 600, 2, 8);
  ASSERT_EQ(layout.rows_per_layer, 2);
  const float used = 4 * layout.width + 3 * kGap;
  ASSERT_LT(used, 900) << "high maps would be too low for all rows";
  EXPECT_GT(layout.place({0, 3}).right(), used);
  EXPECT_LE(layout.place({0, 3}).right(), 1000);
  EXPECT_LE(layout.place({0, 1}).x - layout.place({0, 0}).right(), kGap + layout.width / 2) << "but not lost";
  EXPECT_EQ(grid(500, 5000, 1, 4).spread, 0) << "maps as wide as the area";
}

TEST(GridLayout, EachLayerBeginsARow) {
  const GridLayout layout = grid(1000, 700, 3, 5);
  for (Index layer = 0; layer < 3; ++layer) {
    EXPECT_EQ(layout.place({layer, 0}).x, 0);
    if (layer > 0) { EXPECT_GT(layout.place({layer, 0}).y, layout.place({layer - 1, 4}).y); }
  }
}

TEST(GridLayout, FitsWithoutScrollingWhereItCan) {
  for (const auto& [layers, heads] : {std::pair<Index, Index>{1, 1}, {2, 4}, {4, 4}, {1, 16}, {6, 2}}) {
    const GridLayout layout = grid(1400, 900, layers, heads);
    EXPECT_LE(layout.content_height, 900) << layers << "x" << heads;
    EXPECT_GE(layout.width, kLeast);
  }
}

TEST(GridLayout, ScrollsWhereItCannot) {
  const GridLayout layout = grid(700, 400, 12, 12);
  EXPECT_GT(layout.content_height, 400);
  EXPECT_GE(layout.width, kLeast);
}

TEST(GridLayout, RowsThatScrollAreOfTheSameLength) {
  for (const Index heads : {5, 8, 12, 16}) {
    const GridLayout layout = grid(600, 300, 4, heads);
    EXPECT_GT(layout.content_height, 300);
    EXPECT_LT(layout.rows_per_layer * layout.columns - heads, layout.rows_per_layer) << heads;
  }
  EXPECT_EQ(grid(12 * 82 + 11 * kGap, 300, 12, 12).rows_per_layer, 1) << "a little narrower, but each layer in one row";
}

TEST(GridLayout, SurvivesAnAreaWithoutRoom) {
  for (const float size : {0.0f, 1.0f, 20.0f}) {
    const GridLayout layout = grid(size, size, 2, 4);
    EXPECT_EQ(layout.columns, 1);
    EXPECT_GE(layout.width, 1);
    EXPECT_GE(layout.rows_per_layer, 1);
  }
}

}  // namespace
}  // namespace headlight
