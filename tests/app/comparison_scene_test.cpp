// Where A, B and B − A stand.
#include "views/compare/comparison_scene.h"

#include <gtest/gtest.h>

#include "app/figures.h"

namespace headlight {
namespace {

constexpr float kEm = 10;
constexpr Index kWords = 12;

ComparisonLayout layout_in(float width, float height, Index keys = kWords) {
  LabelMetrics labels;
  for (const char* word : {"a", "longer"}) labels.add(word, figures::roughly(word, kEm));
  return comparison_layout({5, 7, width, height}, kWords, keys, labels, labels, {.title = kEm, .line = 1.3f * kEm});
}

/// How many stand beside the first.
std::size_t in_first_row(const ComparisonLayout& maps) {
  return static_cast<std::size_t>(std::ranges::count_if(
      maps, [&](const ComparedMap& map) { return map.layout.plot.y == maps.front().layout.plot.y; }));
}

TEST(ComparisonScene, MapsAreEquallyLargeInTheAreaAndOnlyTheFirstOfARowHasItsWords) {
  for (const auto& [width, height] :
       {std::pair{600.f, 1e6f}, {330.f, 1e6f}, {150.f, 1e6f}, {600.f, 120.f}, {150.f, 90.f}})
    for (const Index keys : {Index{1}, kWords, 3 * kWords}) {
      const ComparisonLayout maps = layout_in(width, height, keys);
      const std::size_t in_row = in_first_row(maps);
      for (std::size_t i = 0; i < maps.size(); ++i) {
        const Box& plot = maps[i].layout.plot;
        EXPECT_EQ(plot.w, maps[0].layout.plot.w);
        EXPECT_EQ(plot.h, maps[0].layout.plot.h);
        EXPECT_TRUE(plot.x >= 5 && plot.right() <= 5.01f + width && plot.bottom() <= 7.01f + height)
            << width << " " << i;
        EXPECT_EQ(maps[i].layout.rows, maps[0].layout.rows && i % in_row == 0) << width << " " << i;
        EXPECT_EQ(maps[i].at.x, plot.x);
        EXPECT_LT(maps[i].at.y, plot.y);
        for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(figures::overlap(plot, maps[j].layout.plot));
      }
    }
}

TEST(ComparisonScene, ANarrowAreaHasFewerInARowWhereThatMakesThemLarger) {
  EXPECT_EQ(in_first_row(layout_in(600, 1e6f)), 3u);
  EXPECT_EQ(in_first_row(layout_in(330, 1e6f)), 2u);
  EXPECT_EQ(in_first_row(layout_in(150, 1e6f)), 1u);
  EXPECT_EQ(in_first_row(layout_in(330, 120)), 3u) << "two rows would be lower still";
  EXPECT_GT(layout_in(330, 1e6f)[0].layout.cell, layout_in(330, 120)[0].layout.cell);
}

TEST(ComparisonScene, EachHasItsTitleAndItsHitBox) {
  Drawing scene;
  const ComparisonLayout maps = layout_in(600, 1e6f);
  add_titles(scene, maps, kEm, Theme::light, figures::roughly);
  EXPECT_EQ(figures::words_of(scene), "A\nB\nB − A\n");
  ASSERT_EQ(scene.hits.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(scene.hits[i], (Hit{maps[i].name, maps[i].layout.plot}));
  EXPECT_EQ(figures::all<Text>(scene)[0].colour, diverging_map(Theme::light).front());
  EXPECT_EQ(figures::all<Text>(scene)[1].colour, diverging_map(Theme::light).back());
}

}  // namespace
}  // namespace headlight
