#include "figure/drawing/colour.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/names.h"

namespace headlight {
namespace {

double linear(std::uint8_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

struct Oklab {
  double l, a, b;
};

Oklab oklab(Rgb c) {
  const double r = linear(c.r), g = linear(c.g), b = linear(c.b);
  const double x = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double y = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double z = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * x + 0.7936177850 * y - 0.0040720468 * z,
          1.9779984951 * x - 2.4285922050 * y + 0.4505937099 * z,
          0.0259040371 * x + 0.7827717662 * y - 0.8086757660 * z};
}

double contrast(Rgb x, Rgb y) {
  const auto luminance = [](Rgb c) { return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b); };
  const double a = luminance(x), b = luminance(y);
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

class EveryTheme : public testing::TestWithParam<Theme> {};
INSTANTIATE_TEST_SUITE_P(Colour, EveryTheme, testing::Values(Theme::light, Theme::dark));

TEST_P(EveryTheme, LightnessIsAStraightLine) {
  const auto& map = colour_map(GetParam());
  const double first = oklab(map.front()).l, last = oklab(map.back()).l;
  EXPECT_GT(std::abs(last - first), 0.7);
  for (std::size_t i = 0; i < 256; ++i) {
    // A byte a channel resolves lightness to about 0.002.
    EXPECT_NEAR(oklab(map[i]).l, first + (last - first) * static_cast<double>(i) / 255, 0.003) << i;
  }
  const double step = (last - first) * 16 / 255;
  for (std::size_t i = 0; i + 16 < 256; ++i) EXPECT_NEAR((oklab(map[i + 16]).l - oklab(map[i]).l) / step, 1, 0.08) << i;
}

TEST_P(EveryTheme, LightnessNeverTurnsBack) {
  const auto& map = colour_map(GetParam());
  const double sign = GetParam() == Theme::light ? -1 : 1;
  for (std::size_t i = 0; i + 1 < 256; ++i) EXPECT_GT(sign * (oklab(map[i + 1]).l - oklab(map[i]).l), 0) << i;
}

TEST_P(EveryTheme, EveryMapIsAsEven) {
  for (int map = 0; map < kColourMaps; ++map) {
    const auto& colours = colour_map(GetParam(), static_cast<ColourMap>(map));
    EXPECT_EQ(colours.front(), background_of(GetParam()));
    const double first = oklab(colours.front()).l, last = oklab(colours.back()).l;
    EXPECT_GT(std::abs(last - first), 0.7);
    for (std::size_t i = 0; i < 256; ++i) {
      EXPECT_NEAR(oklab(colours[i]).l, first + (last - first) * static_cast<double>(i) / 255, 0.004) << map << " " << i;
      EXPECT_GE(contrast(colours[i], text_on(colours[i])), 4.5);
      EXPECT_LE(std::abs(colours[i].g - colours[i > 0 ? i - 1 : 0].g), 6) << map << " " << i;
    }
    const ColourScale scale{.theme = GetParam(), .colours = static_cast<ColourMap>(map)};
    EXPECT_EQ(colour_of(scale, 1), colours.back());
    EXPECT_EQ(value_named<ColourMap>(kColourNames, name(scale.colours)), scale.colours);
  }
  for (const Rgb grey : colour_map(GetParam(), ColourMap::grey))
    EXPECT_LE(std::hypot(oklab(grey).a, oklab(grey).b), 0.01);
}

TEST_P(EveryTheme, NothingIsBackground) {
  const Rgb expected = GetParam() == Theme::light ? Rgb{0xFB, 0xFB, 0xFA} : Rgb{0x15, 0x17, 0x1A};
  EXPECT_EQ(background_of(GetParam()), expected);
  EXPECT_EQ(colour_map(GetParam()).front(), expected);
  for (const Scale scale : {Scale::linear, Scale::log}) EXPECT_EQ(colour_of({GetParam(), scale, 1}, 0), expected);
}

TEST_P(EveryTheme, NoColourIsNearTheAccent) {
  for (const Rgb colour : colour_map(GetParam())) {
    const Oklab c = oklab(colour);
    if (std::hypot(c.a, c.b) < 0.02) continue;
    double hue = std::atan2(c.b, c.a) * 180 / M_PI;
    if (hue < 0) hue += 360;
    EXPECT_TRUE(hue > 150 && hue < 320) << hue;  // orange is about 55
  }
}

TEST_P(EveryTheme, NeighboursStepSmoothly) {
  for (const auto* map : {&colour_map(GetParam()), &diverging_map(GetParam())}) {
    for (std::size_t i = 0; i + 1 < 256; ++i) {
      EXPECT_LE(std::abs((*map)[i].r - (*map)[i + 1].r), 6) << i;
      EXPECT_LE(std::abs((*map)[i].g - (*map)[i + 1].g), 6) << i;
      EXPECT_LE(std::abs((*map)[i].b - (*map)[i + 1].b), 6) << i;
    }
  }
}

TEST_P(EveryTheme, TextIsLegibleOnEveryColour) {
  for (const auto* map : {&colour_map(GetParam()), &diverging_map(GetParam())}) {
    for (const Rgb colour : *map) {
      EXPECT_GE(contrast(colour, text_on(colour)), 4.5);
      EXPECT_EQ(needs_dark_text(colour), contrast(colour, {0, 0, 0}) >= contrast(colour, {255, 255, 255}));
    }
  }
}

// Numbers on both sides of zero.

TEST_P(EveryTheme, ZeroIsTheBackgroundInTheMiddle) {
  const Rgb background = background_of(GetParam());
  EXPECT_EQ(diverging_map(GetParam())[127], background);
  EXPECT_EQ(diverging_map(GetParam())[128], background);
  for (const float top : {1e-6f, 0.2f, 1.0f, 5e8f}) {
    const ColourScale scale{.theme = GetParam(), .top = top, .diverging = true};
    EXPECT_EQ(colour_of(scale, 0), background);
    EXPECT_EQ(colour_of(scale, -0.0f), background);
    EXPECT_EQ(colour_of(scale, std::numeric_limits<float>::quiet_NaN()), background);
    EXPECT_EQ(colour_of(scale, top), diverging_map(GetParam()).back());
    EXPECT_EQ(colour_of(scale, -top), diverging_map(GetParam()).front());
    EXPECT_EQ(colour_of(scale, std::numeric_limits<float>::infinity()), diverging_map(GetParam()).back());
  }
}

TEST_P(EveryTheme, BothSidesAreEquallyFarFromZeroInLightness) {
  const auto& map = diverging_map(GetParam());
  for (std::size_t i = 0; i < 128; ++i) EXPECT_NEAR(oklab(map[127 - i]).l, oklab(map[128 + i]).l, 0.006) << i;
  EXPECT_GT(std::abs(oklab(map.front()).l - oklab(background_of(GetParam())).l), 0.5);
}

TEST_P(EveryTheme, LightnessNeverTurnsBackOnEitherSide) {
  const auto& map = diverging_map(GetParam());
  const double sign = GetParam() == Theme::light ? -1 : 1;
  for (std::size_t i = 0; i + 1 < 128; ++i) {
    EXPECT_GT(sign * (oklab(map[129 + i]).l - oklab(map[128 + i]).l), 0) << i;
    EXPECT_GT(sign * (oklab(map[126 - i]).l - oklab(map[127 - i]).l), 0) << i;
  }
}

TEST_P(EveryTheme, TheTwoSidesAreToldApartAndNeitherIsTheAccents) {
  const auto& map = diverging_map(GetParam());
  for (std::size_t i = 0; i < 256; ++i) {
    const Oklab c = oklab(map[i]);
    if (std::hypot(c.a, c.b) < 0.02) continue;
    double hue = std::atan2(c.b, c.a) * 180 / M_PI;
    if (hue < 0) hue += 360;
    EXPECT_TRUE(i < 128 ? hue > 340 || hue < 25 : hue > 225 && hue < 265) << i << ": " << hue;
  }
  // The difference that colour-blind eyes keep is that from blue to yellow.
  EXPECT_GT(oklab(map[20]).b - oklab(map[235]).b, 0.08);
}

TEST_P(EveryTheme, BlockedIsNotNothing) {
  const BlockedColours blocked = blocked_colours(GetParam());
  EXPECT_GE(contrast(blocked.line, background_of(GetParam())), 1.5);
  EXPECT_GE(contrast(blocked.tint, background_of(GetParam())), 1.2);
  EXPECT_LE(contrast(blocked.line, background_of(GetParam())), 3);  // calm
}

TEST(Colour, PositionsOnALinearScale) {
  const ColourScale scale{Theme::light, Scale::linear, 0.5f};
  EXPECT_EQ(position_on_map(scale, 0), 0);
  EXPECT_EQ(position_on_map(scale, -1), 0);
  EXPECT_EQ(position_on_map(scale, std::numeric_limits<float>::quiet_NaN()), 0);
  EXPECT_FLOAT_EQ(position_on_map(scale, 0.125f), 0.25f);
  EXPECT_EQ(position_on_map(scale, 0.5f), 1);
  EXPECT_EQ(position_on_map(scale, 7), 1);
  EXPECT_EQ(position_on_map(scale, std::numeric_limits<float>::infinity()), 1);
}

TEST(Colour, PositionsOnALogarithmicScale) {
  const ColourScale scale{Theme::dark, Scale::log, 1};
  EXPECT_EQ(position_on_map(scale, 1), 1);
  EXPECT_NEAR(position_on_map(scale, 0.1f), 0.75f, 1e-6);
  EXPECT_NEAR(position_on_map(scale, 1e-2f), 0.5f, 1e-6);
  EXPECT_NEAR(position_on_map(scale, 1e-4f), 0, 1e-6);
  EXPECT_EQ(position_on_map(scale, 1e-5f), 0);
  EXPECT_EQ(position_on_map(scale, std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(position_on_map(scale, 0), 0);
  EXPECT_EQ(position_on_map(scale, -1), 0);
  EXPECT_EQ(position_on_map(scale, std::numeric_limits<float>::quiet_NaN()), 0);
}

TEST(Colour, PositionsOnBothSidesOfZero) {
  const ColourScale scale{.top = 2, .diverging = true};
  EXPECT_EQ(position_on_map(scale, 0), 0.5f);
  EXPECT_EQ(position_on_map(scale, 1), 0.75f);
  EXPECT_EQ(position_on_map(scale, -1), 0.25f);
  EXPECT_EQ(position_on_map(scale, 9), 1);
  EXPECT_EQ(position_on_map(scale, -9), 0);
}

TEST(Colour, NiceRanges) {
  for (const float largest : {0.0f, std::numeric_limits<float>::quiet_NaN(), -3.0f}) EXPECT_EQ(nice_range(largest), 1);
  EXPECT_EQ(nice_range(0.3f), 0.5f);
  EXPECT_EQ(nice_range(1), 1);
  EXPECT_EQ(nice_range(3), 5);
  EXPECT_EQ(nice_range(17), 20);
  for (float largest = 1e-29f; largest < 1e30f; largest *= 3.7f) {
    EXPECT_GE(nice_range(largest), largest);
    EXPECT_LE(nice_range(largest), largest * 2.5f * 1.001f);
  }
  EXPECT_TRUE(std::isfinite(nice_range(std::numeric_limits<float>::max())));
  EXPECT_TRUE(std::isnormal(1 / nice_range(std::numeric_limits<float>::denorm_min())));
}

TEST(Colour, EndsOfTheMapAreReached) {
  for (const Theme theme : {Theme::light, Theme::dark})
    for (const Scale scale : {Scale::linear, Scale::log})
      for (const float top : {1.f, 0.2f, 0.05f, 1e-3f})
        EXPECT_EQ(colour_of({theme, scale, top}, top), colour_map(theme).back());
}

TEST(Colour, NiceTops) {
  EXPECT_EQ(nice_top(0), 1);
  EXPECT_EQ(nice_top(-1), 1);
  EXPECT_EQ(nice_top(std::numeric_limits<float>::quiet_NaN()), 1);
  EXPECT_EQ(nice_top(1.005f), 1);
  EXPECT_EQ(nice_top(1.4f), 2) << "a weight beside dropout";
  EXPECT_EQ(nice_top(0.51f), 1);
  EXPECT_EQ(nice_top(0.5f), 0.5f);
  EXPECT_EQ(nice_top(0.21f), 0.5f);
  EXPECT_EQ(nice_top(0.2f), 0.2f);
  EXPECT_EQ(nice_top(0.11f), 0.2f);
  EXPECT_EQ(nice_top(0.1f), 0.1f);
  EXPECT_EQ(nice_top(0.1000001f), 0.2f);
  EXPECT_EQ(nice_top(0.003f), 0.005f);
  EXPECT_GT(nice_top(std::numeric_limits<float>::denorm_min()), 0);
  for (float largest = 1e-6f; largest < 1; largest *= 1.07f) {
    EXPECT_GE(nice_top(largest), largest);
    EXPECT_LE(nice_top(largest), largest * 2.5f * 1.0001f);
  }
}

TEST(Colour, TicksRunFromBottomToTop) {
  EXPECT_EQ(ticks({Theme::light, Scale::linear, 1}), (std::vector<float>{0, 0.25f, 0.5f, 0.75f, 1}));
  EXPECT_EQ(ticks({Theme::light, Scale::linear, 0.5f}), (std::vector<float>{0, 0.1f, 0.2f, 0.3f, 0.4f, 0.5f}));
  EXPECT_EQ(ticks({Theme::light, Scale::linear, 0.2f}).size(), 5u);
  EXPECT_EQ(ticks({.top = 2, .diverging = true}), (std::vector<float>{-2, -1, 0, 1, 2}));
  const auto log = ticks({Theme::light, Scale::log, 1});
  ASSERT_EQ(log.size(), 5u);
  EXPECT_FLOAT_EQ(log.front(), 1e-4f);
  EXPECT_EQ(log.back(), 1);
}

}  // namespace
}  // namespace headlight
