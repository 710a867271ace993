#include "gl/map_texture.h"

#include <limits>

#include "gui/map_texture_fixture.h"
#include "read/picture/picture_file.h"

namespace headlight {
namespace {

TEST_F(MapTextureTest, EveryCellHasItsColour) {
  const Matrix weights = ramp(7, 10);
  for (const Theme theme : {Theme::light, Theme::dark})
    for (const Scale scale : {Scale::linear, Scale::log})
      for (const float top : {1.f, 0.2f, 0.05f}) {
        const ColourScale colours{theme, scale, top};
        const Picture seen = map(weights, 1, {20, 30}, {20 + 10 * 24, 30 + 7 * 18}, colours);
        for (int row = 0; row < 7; ++row)
          for (int column = 0; column < 10; ++column)
            for (const auto& [dx, dy] : {std::pair{0, 0}, {12, 9}, {23, 17}}) {
              const Rgb pixel = at(seen, 20 + column * 24 + dx, 30 + row * 18 + dy);
              EXPECT_LE(apart(pixel, colour_of(colours, weights(row, column))), 2) << row << ' ' << column;
            }
        EXPECT_EQ(at(seen, 19, 30), background_of(theme));
        EXPECT_EQ(at(seen, 20 + 240, 40), background_of(theme));
        EXPECT_EQ(at(seen, 25, 30 + 7 * 18), background_of(theme));
      }
}

TEST_F(MapTextureTest, EveryColourOfTheMapIsReached) {
  Matrix weights(16, 16);
  for (int i = 0; i < 256; ++i) weights.data()[i] = static_cast<float>(i) / 255;
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const Picture seen = map(weights, 2, {0, 0}, {64, 64}, {theme});
    for (int i = 0; i < 256; ++i)
      EXPECT_EQ(at(seen, i % 16 * 4 + 1, i / 16 * 4 + 1), colour_of({theme}, weights.data()[i])) << i;
  }
}

TEST_F(MapTextureTest, ValuesOutsideTheScale) {
  Matrix weights(1, 4);
  weights << 2, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 0;
  for (const Scale scale : {Scale::linear, Scale::log}) {
    const ColourScale colours{Theme::light, scale, 1};
    const Picture seen = map(weights, 3, {0, 0}, {40, 10}, colours);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(at(seen, i * 10 + 5, 5), colour_of(colours, weights(0, i))) << i;
  }
}

TEST_F(MapTextureTest, NumbersOnBothSidesOfZero) {
  Matrix values(16, 16);
  for (int i = 0; i < 256; ++i) values.data()[i] = (static_cast<float>(i) - 127.5f) / 100;
  values(3, 3) = 0;
  values(3, 4) = std::numeric_limits<float>::quiet_NaN();
  values(3, 5) = std::numeric_limits<float>::infinity();
  values(3, 6) = -3e30f;
  std::uint64_t version = 40;
  for (const Theme theme : {Theme::light, Theme::dark})
    for (const auto& [scale, top] : {std::pair{Scale::linear, 0.5f},
                                     {Scale::linear, 1.f},
                                     {Scale::linear, 1.275f},
                                     {Scale::linear, 20.f},
                                     {Scale::log, 1.f}}) {  // which is of weights alone
      const ColourScale colours{.theme = theme, .scale = scale, .top = top, .diverging = true};
      const Picture seen = map(values, version, {0, 0}, {160, 160}, colours);
      for (int i = 0; i < 256; ++i)
        EXPECT_LE(apart(at(seen, i % 16 * 10 + 5, i / 16 * 10 + 5), colour_of(colours, values.data()[i])), 4) << i;
      EXPECT_EQ(at(seen, 35, 35), background_of(theme)) << "zero";
      EXPECT_EQ(at(seen, 45, 35), background_of(theme)) << "no number";
      EXPECT_EQ(at(seen, 55, 35), diverging_map(theme).back());
      EXPECT_EQ(at(seen, 65, 35), diverging_map(theme).front()) << "however far below: not blocked";
    }
}

TEST_F(MapTextureTest, OnBothSidesOfZeroOnlyMinusInfinityIsBlocked) {
  const float blocked = -std::numeric_limits<float>::infinity();
  Matrix values = Matrix::Constant(4, 4, -0.5f);
  values.row(1).setConstant(blocked);
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const ColourScale colours{.theme = theme, .top = 1, .diverging = true};
    const Picture seen = map(values, 60, {0, 0}, {96, 96}, colours);
    int marked = 0, plain = 0;
    for (int y = 24; y < 48; ++y)
      for (int x = 0; x < 96; ++x) {
        marked += apart(at(seen, x, y), background_of(theme)) > 30;
        plain += at(seen, x, y) == background_of(theme);
      }
    EXPECT_GT(marked, 24 * 96 / 12) << "lines";
    EXPECT_GT(plain, 24 * 96 / 3) << "on the background";
    for (const int y : {5, 60, 90}) EXPECT_LE(apart(at(seen, 50, y), colour_of(colours, -0.5f)), 4);
  }
}

TEST_F(MapTextureTest, TheFarthestFromZeroShowsWhereCellsShareAPixel) {
  Matrix values = Matrix::Constant(1, 512, 0.125f);
  values(0, 100) = -1;
  values(0, 300) = 1;
  for (int column = 400; column < 404; ++column) values(0, column) = -std::numeric_limits<float>::infinity();
  const ColourScale colours{.theme = Theme::dark, .top = 1, .diverging = true};
  const Picture seen = map(values, 70, {0, 0}, {128, 10}, colours);
  EXPECT_EQ(at(seen, 25, 5), colour_of(colours, -1));
  EXPECT_EQ(at(seen, 75, 5), colour_of(colours, 1));
  EXPECT_LE(apart(at(seen, 50, 5), colour_of(colours, 0.125f)), 4);
  EXPECT_LE(apart(at(seen, 100, 5), blocked_colours(Theme::dark).tint), 1) << "all of the pixel is blocked";
}

TEST_F(MapTextureTest, WhereCellsShareAPixelThoseWithoutANumberGiveWay) {
  Matrix values = Matrix::Constant(1, 512, std::numeric_limits<float>::quiet_NaN());
  for (int column = 0; column < 512; column += 4) values(0, column + column / 4 % 4) = 0.75f;
  std::uint64_t version = 80;
  for (const bool diverging : {true, false}) {
    const ColourScale colours{.theme = Theme::light, .top = 1, .diverging = diverging};
    const Picture seen = map(values, version++, {0, 0}, {128, 10}, colours);
    for (const int x : {0, 1, 2, 3, 64, 127}) EXPECT_LE(apart(at(seen, x, 5), colour_of(colours, 0.75f)), 4) << x;
  }
}

TEST_F(MapTextureTest, BlockedCellsAreHatched) {
  Matrix weights = Matrix::Zero(10, 10);
  for (int row = 0; row < 10; ++row)
    for (int column = row + 1; column < 10; ++column) weights(row, column) = -1;
  for (const Theme theme : {Theme::light, Theme::dark})
    for (const int cell : {6, 8, 12, 24, 40}) {
      const auto side = static_cast<float>(10 * cell);
      const Picture seen = map(weights, 10, {0, 0}, {side, side}, {theme});
      for (int row = 0; row < 10; ++row)
        for (int column = 0; column < 10; ++column) {
          int marked = 0, strongest = 0;
          for (int y = 0; y < cell; ++y)
            for (int x = 0; x < cell; ++x) {
              const int distance = apart(at(seen, column * cell + x, row * cell + y), background_of(theme));
              marked += distance > 2;
              strongest = std::max(strongest, distance);
            }
          if (weights(row, column) < 0) {
            EXPECT_GT(strongest, 30) << cell;
            EXPECT_GT(marked, cell * cell / 8) << cell;
            EXPECT_LT(marked, cell * cell * 4 / 5) << "lines, not a surface";
          } else {
            EXPECT_EQ(marked, 0) << cell;
          }
        }
    }
}

TEST_F(MapTextureTest, TinyBlockedCellsAreTinted) {
  const Matrix weights = Matrix::Constant(100, 100, -1.f);
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const Picture seen = map(weights, 20, {0, 0}, {200, 200}, {theme});
    for (int y = 0; y < 200; y += 7)
      for (int x = 0; x < 200; x += 7) EXPECT_LE(apart(at(seen, x, y), blocked_colours(theme).tint), 1);
  }
}

TEST_F(MapTextureTest, VersionsNameContents) {
  const Matrix low = Matrix::Constant(4, 4, 0.25f), high = Matrix::Constant(4, 4, 0.75f);
  const ColourScale colours;
  const auto both = [&](const Matrix& left, std::uint64_t left_version, const Matrix& right,
                        std::uint64_t right_version) {
    return picture(Theme::light, [&](ImDrawList& list) {
      painter_->draw(list, left, left_version, {0, 0}, {40, 40}, colours, 1);
      painter_->draw(list, right, right_version, {50, 0}, {90, 40}, colours, 1);
    });
  };
  Picture seen = both(low, 1, high, 2);
  EXPECT_EQ(at(seen, 20, 20), colour_of(colours, 0.25f));
  EXPECT_EQ(at(seen, 70, 20), colour_of(colours, 0.75f));
  seen = both(high, 1, low, 2);  // the same names: the content sent before
  EXPECT_EQ(at(seen, 20, 20), colour_of(colours, 0.25f));
  EXPECT_EQ(at(seen, 70, 20), colour_of(colours, 0.75f));
  seen = both(high, 3, low, 2);
  EXPECT_EQ(at(seen, 20, 20), colour_of(colours, 0.75f));
  EXPECT_EQ(at(seen, 70, 20), colour_of(colours, 0.75f));
}

TEST_F(MapTextureTest, OneBrightCellAmongManyShows) {
  Matrix weights = Matrix::Zero(512, 512);
  weights(301, 77) = 1;
  const ColourScale colours{Theme::dark, Scale::linear, 1};
  Picture seen = map(weights, 1, {8, 16}, {520, 528}, colours);
  for (int row = 0; row < 512; ++row)
    for (int column = 0; column < 512; ++column)
      ASSERT_EQ(at(seen, 8 + column, 16 + row), colour_of(colours, weights(row, column))) << row << ' ' << column;

  // A tenth of the pixels: the cell still shows, at its position.
  seen = map(weights, 1, {0, 0}, {51, 51}, colours);
  int bright = 0;
  for (int y = 0; y < 51; ++y)
    for (int x = 0; x < 51; ++x)
      if (at(seen, x, y) == colour_of(colours, 1)) {
        ++bright;
        EXPECT_NEAR(x, 77 * 51 / 512, 1);
        EXPECT_NEAR(y, 301 * 51 / 512, 1);
      }
  EXPECT_GE(bright, 1);
  EXPECT_LE(bright, 4);
}

TEST_F(MapTextureTest, OnlyTheCrowdedDirectionIsPooled) {
  Matrix weights = Matrix::Zero(4, 512);
  weights(1, 300) = 1;
  weights(2, 300) = -1;
  const ColourScale colours;
  const Picture seen = map(weights, 1, {0, 0}, {128, 40}, colours);
  for (int y = 0; y < 40; ++y) {
    EXPECT_EQ(at(seen, 75, y), colour_of(colours, y / 10 == 1 ? 1.f : 0.f)) << y;  // blocked gives way to what is not
    EXPECT_EQ(at(seen, 74, y), colour_of(colours, 0)) << y;
    EXPECT_EQ(at(seen, 76, y), colour_of(colours, 0)) << y;
  }
}

TEST_F(MapTextureTest, StaleMapsLetTheBackgroundThrough) {
  const Matrix weights = Matrix::Constant(3, 3, 1.f);
  const ColourScale colours{Theme::dark, Scale::linear, 1};
  const Picture seen = map(weights, 1, {0, 0}, {30, 30}, colours, 0.5f);
  const Rgb full = colour_of(colours, 1), none = background_of(Theme::dark), half = at(seen, 15, 15);
  EXPECT_NEAR(half.r, (full.r + none.r) / 2, 2);
  EXPECT_NEAR(half.g, (full.g + none.g) / 2, 2);
  EXPECT_NEAR(half.b, (full.b + none.b) / 2, 2);
}

TEST_F(MapTextureTest, ClipRectanglesHoldAndOtherDrawingGoesOn) {
  const Matrix weights = Matrix::Constant(3, 3, 1.f);
  const ColourScale colours;
  const Picture seen = picture(Theme::light, [&](ImDrawList& list) {
    list.PushClipRect({0, 0}, {15, 15});
    painter_->draw(list, weights, 1, {0, 0}, {30, 30}, colours, 1);
    list.PopClipRect();
    list.AddRectFilled({40, 0}, {60, 20}, IM_COL32(255, 0, 0, 255));
    painter_->draw(list, weights, 1, {100, 0}, {130, 30}, colours, 1);
    list.AddRectFilled({110, 10}, {120, 20}, IM_COL32(0, 255, 0, 255));
  });
  EXPECT_EQ(at(seen, 10, 10), colour_of(colours, 1));
  EXPECT_EQ(at(seen, 20, 10), background_of(Theme::light));
  EXPECT_EQ(at(seen, 50, 10), (Rgb{255, 0, 0}));
  EXPECT_EQ(at(seen, 105, 5), colour_of(colours, 1));
  EXPECT_EQ(at(seen, 115, 15), (Rgb{0, 255, 0}));
}

TEST_F(MapTextureTest, TheSamePixelsAreTheSamePng) {
  const auto draw = [&] {
    return picture(Theme::dark, [&](ImDrawList& list) {
      painter_->draw(list, ramp(9, 9), 1, {10, 10}, {190, 190}, {Theme::dark}, 1);
    });
  };
  const std::string first = png_of(draw());
  EXPECT_EQ(first.substr(1, 3), "PNG");
  EXPECT_EQ(first, png_of(draw()));
}

TEST_F(MapTextureTest, AMissingShaderIsAnError) {
  const auto painter = make_map_painter("/nonexistent/shaders");
  ASSERT_FALSE(painter);
  EXPECT_NE(painter.error().message().find("map.vert"), std::string::npos);
}

}  // namespace
}  // namespace headlight
