#include "figure/drawing/map_layout.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "figure/drawing/heads_layout.h"

namespace headlight {
namespace {

constexpr float kText = 13;

Token token(std::string text) {
  Token token;
  token.text = std::move(text);
  return token;
}

std::string label(std::string text) { return axis_label(token(std::move(text))); }

TEST(AxisLabel, WordsAreShownAsTheyAre) {
  EXPECT_EQ(label("我"), "我");
  EXPECT_EQ(label("New York"), "New York");
  EXPECT_EQ(label("😀👩‍👩‍👧"), "grinning face woman woman girl") << "no font here has pictures";
  EXPECT_EQ(label(""), "");
}

TEST(AxisLabel, WhatWouldBeInvisibleIsShown) {
  EXPECT_EQ(label(" "), "␣");
  EXPECT_EQ(label("  "), "␣␣");
  EXPECT_EQ(label("\u3000"), "␣");
  EXPECT_EQ(label("\u00A0\u2003\u202F"), "␣␣␣");
  EXPECT_EQ(label("\u200B"), "␣");
  EXPECT_EQ(label("\t"), "␣");
  EXPECT_EQ(label("\n"), "⏎");
  EXPECT_EQ(label("a\r"), "a⏎");
  EXPECT_EQ(label("a\x01z"), "a␣z");
  EXPECT_EQ(label("a\u0085z"), "a␣z");
}

TEST(AxisLabel, LongOnesEndInAnEllipsis) {
  EXPECT_EQ(label(std::string(16, 'x')), std::string(16, 'x'));
  EXPECT_EQ(label(std::string(17, 'x')), std::string(16, 'x') + "…");
  std::string chinese;
  for (int i = 0; i < 40; ++i) chinese += "我";
  EXPECT_EQ(label(chinese), chinese.substr(0, 48) + "…");
}

TEST(Upright, IsChineseJapaneseKorean) {
  EXPECT_TRUE(stands_upright("李雷"));
  EXPECT_TRUE(stands_upright("한글"));
  EXPECT_TRUE(stands_upright("カナ"));
  EXPECT_TRUE(stands_upright("。"));
  EXPECT_TRUE(stands_upright("𠀀"));
  EXPECT_FALSE(stands_upright("cat"));
  EXPECT_FALSE(stands_upright("李L"));
}

struct Case {
  Box area;
  Index rows, columns;
  LabelMetrics row_labels, column_labels;
};

Case random_case(Random& random) {
  const auto between = [&](float least, float most) { return least + (most - least) * random.uniform(); };
  const auto metrics = [&] {
    LabelMetrics labels;
    labels.longest = 1 + random.next() % 12;
    labels.upright = random.next() % 2 == 0;
    labels.widest = random.next() % 5 == 0 ? 0 : static_cast<float>(labels.longest) * between(5, 13);
    if (labels.widest > 0) {
      labels.widest_turned = random.next() % 3 == 0 ? labels.widest * between(0, 1) : labels.widest;
      labels.most_standing = random.next() % 5;
    }
    return labels;
  };
  const auto size = [&] { return static_cast<Index>(1 + random.next() % (random.next() % 3 == 0 ? 2000 : 20)); };
  Case c{{between(0, 50), between(0, 50), between(60, 900), between(60, 900)}, size(), size(), metrics(), metrics()};
  if (random.next() % 2)
    c.area = {std::round(c.area.x), std::round(c.area.y), std::round(c.area.w), std::round(c.area.h)};
  return c;
}

MapLayout layout_of(const Case& c) {
  return layout_map(c.area, c.rows, c.columns, c.row_labels, c.column_labels, kText);
}

TEST(MapLayout, CellsAreSquareAndInsideTheArea) {
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    const Case c = random_case(random);
    const MapLayout layout = layout_of(c);
    ASSERT_GT(layout.cell, 0);
    ASSERT_NEAR(layout.plot.w, layout.cell * static_cast<float>(c.columns), 1e-2f);
    ASSERT_NEAR(layout.plot.h, layout.cell * static_cast<float>(c.rows), 1e-2f);
    ASSERT_GE(layout.plot.x, c.area.x) << i;
    ASSERT_GE(layout.plot.y, c.area.y) << i;
    ASSERT_LE(layout.plot.right(), c.area.right() + 1e-2f) << i;
    ASSERT_LE(layout.plot.bottom(), c.area.bottom() + 1e-2f) << i;
    ASSERT_EQ(layout.plot.x, std::round(layout.plot.x));
    ASSERT_EQ(layout.plot.y, std::round(layout.plot.y));
    if (layout.cell >= 4) { ASSERT_EQ(layout.cell, std::floor(layout.cell)); }
  }
}

TEST(MapLayout, CellsAreAsLargeAsTheyCanBe) {
  const MapLayout layout = layout_map({0, 0, 500, 500}, 10, 10, {}, {}, kText);
  EXPECT_EQ(layout.cell, 50);
  EXPECT_EQ(layout.plot, (Box{0, 0, 500, 500}));
  EXPECT_EQ(layout_map({0, 0, 500, 300}, 10, 10, {}, {}, kText).cell, 30);
  EXPECT_EQ(layout_map({0, 0, 40, 30}, 1, 1, {}, {}, kText).cell, 30);
  EXPECT_FLOAT_EQ(layout_map({0, 0, 500, 500}, 1, 1000, {}, {}, kText).cell, 0.5f);
}

TEST(MapLayout, LabelsHaveTheirRoomAndNeverOverlap) {
  Random random(2);
  for (int i = 0; i < 3000; ++i) {
    const Case c = random_case(random);
    const MapLayout layout = layout_of(c);
    ASSERT_GE(layout.row_step, 1);
    ASSERT_GE(static_cast<float>(layout.row_step) * layout.cell,
              kText * (layout.row_step == 1 ? kLabelPitch : kThinnedPitch) - 1e-3f)
        << i;
    if (layout.rows) { ASSERT_GE(layout.plot.x - c.area.x, c.row_labels.widest) << i; }
    const float above = layout.plot.y - c.area.y, step = static_cast<float>(layout.column_step) * layout.cell;
    switch (layout.columns) {
      case ColumnLabels::none: break;
      case ColumnLabels::horizontal:
        ASSERT_GE(above, kText) << i;
        ASSERT_GE(step, c.column_labels.widest - 1) << i;
        break;
      case ColumnLabels::stacked:
        ASSERT_TRUE(c.column_labels.upright);
        ASSERT_GE(above, kText * static_cast<float>(c.column_labels.longest)) << i;
        ASSERT_GE(step, kText * kLabelPitch - 1e-3f) << i;
        break;
      case ColumnLabels::rotated:
        ASSERT_GE(above, c.column_labels.widest_turned) << i;
        ASSERT_GE(above, kText * static_cast<float>(c.column_labels.most_standing)) << i;
        ASSERT_GE(step, kText * kLabelPitch - 1e-3f) << i;
        break;
    }
    if (c.row_labels.widest == 0) { ASSERT_FALSE(layout.rows); }
    if (c.column_labels.widest == 0) { ASSERT_EQ(layout.columns, ColumnLabels::none); }
  }
}

TEST(MapLayout, LabelsAreLeftOutWhereTheyWouldTakeTheMapAway) {
  const MapLayout layout = layout_map({0, 0, 60, 60}, 5, 5, {50, 10, false, 50}, {50, 10, false, 50}, kText);
  EXPECT_FALSE(layout.rows);
  EXPECT_EQ(layout.columns, ColumnLabels::none);
}

TEST(MapLayout, ChineseStandsUprightWhereItsLineWouldNotFit) {
  const LabelMetrics chinese{26, 2, true}, english{40, 6, false, 40};
  EXPECT_EQ(layout_map({0, 0, 400, 400}, 10, 10, chinese, chinese, kText).columns, ColumnLabels::horizontal);
  EXPECT_EQ(layout_map({0, 0, 200, 200}, 10, 10, chinese, chinese, kText).columns, ColumnLabels::stacked);
  EXPECT_EQ(layout_map({0, 0, 200, 200}, 10, 10, english, english, kText).columns, ColumnLabels::rotated);
}

TEST(MapLayout, LabelsFitTheCellsThatASideIsLimitedTo) {
  const LabelMetrics english{40, 6, false, 40};
  EXPECT_EQ(layout_map({0, 0, 900, 600}, 3, 3, english, english, kText).columns, ColumnLabels::horizontal);
  const MapLayout small = layout_map({0, 0, 900, 600}, 3, 3, english, english, kText, 40);
  EXPECT_EQ(small.columns, ColumnLabels::rotated) << "side by side they would touch";
  EXPECT_EQ(small.cell, 40);
  EXPECT_EQ(small.plot.w, 120);
}

TEST(MapLayout, ChineseStandsBesideWordsThatAreTurned) {
  LabelMetrics mixed;
  for (const auto& [label, width] : {std::pair{"<s>", 20.0f}, {"李雷", 26.0f}, {"我", 13.0f}}) mixed.add(label, width);
  EXPECT_FALSE(mixed.upright);
  EXPECT_EQ(mixed.widest, 26);
  EXPECT_EQ(mixed.widest_turned, 20);
  EXPECT_EQ(mixed.most_standing, 2u);
  EXPECT_TRUE(stands_in_column("李雷"));
  EXPECT_TRUE(stands_in_column("."));
  EXPECT_FALSE(stands_in_column("<s>"));
  const MapLayout layout = layout_map({0, 0, 200, 200}, 10, 10, mixed, mixed, kText);
  EXPECT_EQ(layout.columns, ColumnLabels::rotated);
  EXPECT_GE(layout.plot.y, 2 * kText) << "there is height for two characters";
}

Token token_of(const std::string& text) {
  Token token;
  token.text = text;
  return token;
}

TEST(MapLayout, PicturesAreNamed) {
  EXPECT_EQ(axis_label(token_of("🧋")), "bubble tea");
  EXPECT_EQ(axis_label(token_of("👋🏽")), "waving hand sign");
  EXPECT_EQ(axis_label(token_of("a🧋")), "a bubble tea");
}

TEST(MapLayout, TheCellUnderAPointIsTheInverseOfItsBox) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const Case c = random_case(random);
    const MapLayout layout = layout_of(c);
    for (int probe = 0; probe < 20; ++probe) {
      const CellRef cell{static_cast<Index>(random.next() % static_cast<std::uint64_t>(c.rows)),
                         static_cast<Index>(random.next() % static_cast<std::uint64_t>(c.columns))};
      const Box box = cell_box(layout, cell.query, cell.key);
      ASSERT_EQ(cell_at(layout, c.rows, c.columns, box.x + box.w / 2, box.y + box.h / 2), cell) << i;
    }
    ASSERT_FALSE(cell_at(layout, c.rows, c.columns, layout.plot.x - 1, layout.plot.y));
    ASSERT_FALSE(cell_at(layout, c.rows, c.columns, layout.plot.right(), layout.plot.y));
    ASSERT_FALSE(cell_at(layout, c.rows, c.columns, layout.plot.x, layout.plot.bottom() + 1));
  }
}

TEST(MapLayout, SurvivesAnAreaWithoutRoom) {
  for (const Box& area : {Box{0, 0, 0, 0}, Box{5, 5, 1, 1}, Box{0, 0, 3, 300}, Box{0, 0, -4, -4}}) {
    const MapLayout layout = layout_map(area, 10, 10, {20, 3, false}, {20, 3, false}, kText);
    EXPECT_GT(layout.cell, 0);
    EXPECT_GE(layout.row_step, 1);
    EXPECT_GE(layout.column_step, 1);
  }
}

TEST(MapLayout, LabelsOfFiguresShowWhereAWordBegins) {
  Token token;
  token.text = "ing";
  token.raw = "##ing";
  EXPECT_EQ(piece_label(token), "##ing");
  token.text = "##ing";
  EXPECT_EQ(piece_label(token), "##ing") << "which was typed";
  token = {};
  token.text = "cat";
  for (const char* raw : {"\u0120cat", "\u2581cat"}) {
    token.raw = raw;
    EXPECT_EQ(piece_label(token), "␣cat");
    token.special = true;
    EXPECT_EQ(piece_label(token), "cat");
    token.special = false;
  }
  token.raw = "cat";
  EXPECT_EQ(piece_label(token), axis_label(token));
  token.text = "\u2581";
  token.raw = "\u2581";
  EXPECT_FALSE(piece_label(token).empty());
}

TEST(HeadsLayout, OfNoHeadsIsEmpty) {
  for (const bool page : {false, true}) {
    const HeadsLayout layout = heads_layout(600, 400, {1, 0, 5, 5}, {.unit = 1, .page = page});
    EXPECT_EQ(layout.content.heads, 0);
    EXPECT_EQ(layout.content_height, 0);
  }
}

}  // namespace
}  // namespace headlight
