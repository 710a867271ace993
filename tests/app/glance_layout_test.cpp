// All layers at a glance: as large as the room allows, never on top of each other, never stretched.
#include "figure/glance_layout.h"

#include <cmath>

#include "app/figures.h"

namespace headlight {
namespace {

TEST(GlanceLayout, EverySquareIsInsideAndApart) {
  struct Room {
    float width, height;
    Index rows, columns;
  };
  for (const Room& room : {Room{700, 560, 2, 4}, Room{700, 560, 12, 12}, Room{700, 560, 48, 64},
                           Room{1800, 1200, 48, 64}, Room{700, 560, 1, 1}, Room{700, 560, 32, 8}}) {
    const GlanceLayout layout = layout_glance(room.width, room.height, room.rows, room.columns, {20, 18}, 4, 200);
    for (Index row = 0; row < room.rows; ++row)
      for (Index column = 0; column < room.columns; ++column) {
        const Box square = layout.place(row, column);
        EXPECT_GE(square.x, 20);
        EXPECT_GE(square.y, 18);
        EXPECT_LE(square.right(), room.width) << room.rows << "x" << room.columns;
        EXPECT_LE(square.bottom(), room.height);
        EXPECT_EQ(square.w, square.h);
        EXPECT_EQ(square.w, std::floor(square.w)) << "whole pixels";
        EXPECT_FALSE(figures::overlap(square, layout.place(row, column + 1)));
        EXPECT_FALSE(figures::overlap(square, layout.place(row + 1, column)));
      }
    EXPECT_LE(layout.content_height, room.height);
    // A step larger, and they would not fit: unless they are as large as they may be.
    const float pitch = layout.cell + layout.gap + 1;
    EXPECT_TRUE(layout.cell == 200 || 20 + static_cast<float>(room.columns) * pitch > room.width ||
                18 + static_cast<float>(room.rows) * pitch > room.height);
  }
}

TEST(GlanceLayout, WhatDoesNotFitScrolls) {
  const GlanceLayout layout = layout_glance(300, 200, 128, 8, {20, 18}, 8, 200);
  EXPECT_EQ(layout.cell, 8);
  EXPECT_GT(layout.content_height, 200);
  EXPECT_GE(layout.content_height, layout.place(127, 7).bottom());
}

TEST(GlanceLayout, MapsKeepTheirShape) {
  const Box square{10, 20, 40, 40};
  EXPECT_EQ(within_square(square, 7, 7), square);
  const Box wide = within_square(square, 5, 10), high = within_square(square, 10, 5);
  EXPECT_EQ(wide, (Box{10, 30, 40, 20}));
  EXPECT_EQ(high, (Box{20, 20, 20, 40}));
  EXPECT_EQ(within_square(square, 1, 1000).h, 1) << "still to be seen";
}

}  // namespace
}  // namespace headlight
