#include "figure/drawing/colour.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

#include "derived/derived_maps.h"

namespace headlight {
namespace {

// OKLab and its matrices: Björn Ottosson, "A perceptual color space for image processing" (2020).
struct Lab {
  double lightness, a, b;
};

double linear_of(std::uint8_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

double srgb_of(double linear) {
  return linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
}

Lab lab_of(Rgb colour) {
  const double r = linear_of(colour.r), g = linear_of(colour.g), b = linear_of(colour.b);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

std::array<double, 3> linear_rgb(const Lab& lab) {
  const double l = std::pow(lab.lightness + 0.3963377774 * lab.a + 0.2158037573 * lab.b, 3);
  const double m = std::pow(lab.lightness - 0.1055613458 * lab.a - 0.0638541728 * lab.b, 3);
  const double s = std::pow(lab.lightness - 0.0894841775 * lab.a - 1.2914855480 * lab.b, 3);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

Rgb rgb_of(Lab lab) {
  const auto shown = [](const std::array<double, 3>& rgb) {
    return std::ranges::all_of(rgb, [](double c) { return c >= -1e-4 && c <= 1 + 1e-4; });
  };
  auto linear = linear_rgb(lab);
  // Outside sRGB, chroma gives way: lightness and hue are what carry the meaning.
  for (int i = 0; i < 100 && !shown(linear); ++i) {
    lab.a *= 0.97, lab.b *= 0.97;
    linear = linear_rgb(lab);
  }
  const auto byte = [](double c) {
    return static_cast<std::uint8_t>(std::lround(255 * srgb_of(std::clamp(c, 0.0, 1.0))));
  };
  return {byte(linear[0]), byte(linear[1]), byte(linear[2])};
}

struct Tint {
  double chroma, hue;  // hue in degrees
};

// Lightness is a straight line from the background to `last_lightness`; a smooth curve through the background and
// four tints, a quarter of the way apart, gives the rest.
std::array<Rgb, 256> build_map(Rgb background, double last_lightness, const std::array<Tint, 4>& tints) {
  const Lab first = lab_of(background);
  std::array<Lab, 5> anchors{first};
  for (std::size_t i = 0; i < tints.size(); ++i) {
    const double angle = tints[i].hue * std::numbers::pi / 180;
    anchors[i + 1] = {0, tints[i].chroma * std::cos(angle), tints[i].chroma * std::sin(angle)};
  }
  // Catmull-Rom, the ends continued by reflection.
  const auto curve = [&](double Lab::*part, double t) {
    const int segment = std::min(static_cast<int>(t), 3);
    const double u = t - segment;
    const auto at = [&](int i) {
      if (i < 0) return 2 * anchors[0].*part - anchors[1].*part;
      if (i > 4) return 2 * anchors[4].*part - anchors[3].*part;
      return anchors[static_cast<std::size_t>(i)].*part;
    };
    const double p0 = at(segment - 1), p1 = at(segment), p2 = at(segment + 1), p3 = at(segment + 2);
    return p1 + 0.5 * u * (p2 - p0 + u * (2 * p0 - 5 * p1 + 4 * p2 - p3 + u * (3 * (p1 - p2) + p3 - p0)));
  };
  std::array<Rgb, 256> map;
  for (int i = 0; i < 256; ++i) {
    const double t = i / 255.0;
    map[static_cast<std::size_t>(i)] =
        rgb_of({std::lerp(first.lightness, last_lightness, t), curve(&Lab::a, 4 * t), curve(&Lab::b, 4 * t)});
  }
  map.front() = background;
  return map;
}

/// The colours of heads, each from a sixth of it on the background to all of it.
std::array<Rgb, 256> shaded_heads(Theme theme) {
  std::array<Rgb, 256> map{};
  const Lab ground = lab_of(background_of(theme));
  map.front() = background_of(theme);
  for (std::size_t i = 0; i + 1 < map.size(); ++i) {
    const Lab full = lab_of(head_colour(theme, std::min(i / kHeadShades, kHeadColours - 1)));
    const double part = (1 + 5 * static_cast<double>(i % kHeadShades) / (kHeadShades - 1)) / 6;
    map[i + 1] = rgb_of({std::lerp(ground.lightness, full.lightness, part), std::lerp(ground.a, full.a, part),
                         std::lerp(ground.b, full.b, part)});
  }
  return map;
}

// Relative luminance of WCAG 2.1.
double luminance(Rgb c) { return 0.2126 * linear_of(c.r) + 0.7152 * linear_of(c.g) + 0.0722 * linear_of(c.b); }

}  // namespace

float position_on_map(const ColourScale& scale, float weight) {
  assert(scale.top > scale.bottom);
  if (scale.diverging) return std::isnan(weight) ? 0.5f : std::clamp(0.5f + 0.5f * weight * (1 / scale.top), 0.f, 1.f);
  if (weight >= scale.top) return 1;
  if (scale.scale == Scale::log && !(weight > 0)) return 0;
  // The steps of shaders/map.frag, multiplication by the inverse included: both round the same way.
  const float gain = 1 / (scale.top - scale.bottom), part = weight * gain - scale.bottom * gain;
  const float position = scale.scale == Scale::linear ? part : 1 + std::log10(part) / ColourScale::kDecades;
  return std::isnan(position) ? 0 : std::clamp(position, 0.f, 1.f);
}

ColourScale in_range(ColourScale scale, const std::optional<ColourRange>& range) {
  if (!range) return scale;
  scale.top = scale.diverging ? std::max(std::abs(range->from), std::abs(range->to)) : range->to;
  if (!scale.diverging) scale.bottom = range->from, scale.scale = Scale::linear;
  return scale;
}

ColourScale of_numbers(ColourScale scale, const Matrix& numbers) {
  float largest = 0;
  for (const float number : numbers.reshaped())
    if (std::isfinite(number)) largest = std::max(largest, scale.diverging ? std::abs(number) : number);
  scale.top = nice_range(largest);
  return scale;
}

const std::array<Rgb, 256>& colour_map(Theme theme, ColourMap map) {
  static const auto maps = [] {
    constexpr double kLastOfLight = 0.25, kLastOfDark = 0.95;
    const Rgb light = background_of(Theme::light), dark = background_of(Theme::dark);
    return std::array<std::array<std::array<Rgb, 256>, 2>, kAllColourMaps>{{
        {build_map(light, kLastOfLight, {{{0.075, 205}, {0.125, 243}, {0.150, 273}, {0.105, 300}}}),
         build_map(dark, kLastOfDark, {{{0.115, 290}, {0.130, 252}, {0.110, 203}, {0.060, 172}}})},
        {build_map(light, kLastOfLight, {{{0.110, 120}, {0.120, 158}, {0.095, 222}, {0.115, 306}}}),
         build_map(dark, kLastOfDark, {{{0.115, 302}, {0.095, 228}, {0.125, 160}, {0.120, 112}}})},
        {build_map(light, kLastOfLight, {{{0.085, 100}, {0.045, 102}, {0.035, 262}, {0.085, 260}}}),
         build_map(dark, kLastOfDark, {{{0.085, 260}, {0.030, 262}, {0.055, 102}, {0.095, 100}}})},
        {build_map(light, kLastOfLight, {}), build_map(dark, kLastOfDark, {})},
        {shaded_heads(Theme::light), shaded_heads(Theme::dark)},
    }};
  }();
  return maps[static_cast<std::size_t>(map)][static_cast<std::size_t>(theme)];
}

const std::array<Rgb, 256>& diverging_map(Theme theme) {
  const auto both = [](Rgb middle, double lightness, double chroma) {
    const auto arm = [&](double hue) {
      return build_map(middle, lightness,
                       {{{chroma * 0.5, hue}, {chroma * 0.9, hue}, {chroma, hue}, {chroma * 0.9, hue}}});
    };
    const auto below = arm(5), above = arm(245);
    std::array<Rgb, 256> map;
    for (std::size_t i = 0; i < 128; ++i) {
      map[127 - i] = below[i * 2];
      map[128 + i] = above[i * 2];
    }
    return map;
  };
  static const auto light = both(background_of(Theme::light), 0.40, 0.115);
  static const auto dark = both(background_of(Theme::dark), 0.80, 0.14);
  return theme == Theme::light ? light : dark;
}

Rgb colour_of(const ColourScale& scale, float weight) {
  const float position = position_on_map(scale, weight);
  return (scale.diverging ? diverging_map(scale.theme)
                          : colour_map(scale.theme, scale.colours))[static_cast<std::size_t>(position * 255 + 0.5f)];
}

Rgb role_colour(Theme theme, ChatRole role) {
  constexpr double kChroma[] = {0.0, 0.09, 0.09}, kHue[] = {0, 250, 105};  // grey, blue, olive
  const auto at = static_cast<std::size_t>(role);
  const double angle = kHue[at] * std::numbers::pi / 180, lightness = theme == Theme::light ? 0.84 : 0.48;
  return rgb_of({lightness, kChroma[at] * std::cos(angle), kChroma[at] * std::sin(angle)});
}

Rgb head_colour(Theme theme, std::size_t index) {
  // Hue in degrees; neighbours in the list are far apart, and dark and bright ones take turns, which colour-blind eyes
  // distinguish where hues are not enough.
  struct Tone {
    double lightness, chroma, hue;
  };
  static constexpr Tone kTones[kHeadColours] = {
      {0.50, 0.16, 255}, {0.68, 0.15, 150}, {0.50, 0.18, 340}, {0.72, 0.13, 90},  {0.42, 0.15, 295}, {0.68, 0.11, 205},
      {0.42, 0.12, 20},  {0.70, 0.13, 315}, {0.45, 0.10, 140}, {0.62, 0.05, 260}, {0.48, 0.09, 80},  {0.36, 0.06, 230}};
  const Tone& tone = kTones[index % kHeadColours];
  const double lightness = theme == Theme::light ? tone.lightness : 0.55 + (tone.lightness - 0.36) * 0.95;
  const double angle = tone.hue * std::numbers::pi / 180;
  return rgb_of({lightness, tone.chroma * std::cos(angle), tone.chroma * std::sin(angle)});
}

InkColours ink_colours(Theme theme) {
  if (theme == Theme::light) return {{28, 30, 33}, {92, 96, 102}, {224, 224, 221}, {168, 64, 0}};
  return {{228, 230, 233}, {160, 165, 172}, {48, 52, 57}, {255, 146, 48}};
}

Rgb background_of(Theme theme) { return theme == Theme::light ? Rgb{0xFB, 0xFB, 0xFA} : Rgb{0x15, 0x17, 0x1A}; }

BlockedColours blocked_colours(Theme theme) {
  if (theme == Theme::light) return {{0xC0, 0xC0, 0xBD}, {0xDD, 0xDD, 0xDB}};
  return {{0x54, 0x57, 0x5C}, {0x34, 0x36, 0x3A}};
}

Rgb gap_colour(Theme theme) { return theme == Theme::light ? Rgb{0xED, 0xED, 0xEB} : Rgb{0x25, 0x28, 0x2C}; }

Rgb text_on(Rgb background) { return needs_dark_text(background) ? Rgb{0, 0, 0} : Rgb{255, 255, 255}; }

bool needs_dark_text(Rgb background) {
  const double l = luminance(background);
  return (l + 0.05) / 0.05 >= 1.05 / (l + 0.05);
}

/// Below this a scale's inverse would leave the floats that every graphics card has.
constexpr float kLeastRange = 1e-30f;

float nice_range(float largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return 1;
  largest = std::max(largest, kLeastRange);
  double power = std::pow(10.0, std::floor(std::log10(static_cast<double>(largest))));
  for (int tries = 0; tries < 2; ++tries, power *= 10) {
    for (const double step : {1.0, 2.0, 5.0}) {
      const double top = step * power;
      if (top > static_cast<double>(std::numeric_limits<float>::max())) return largest;
      if (static_cast<float>(top) >= largest) return static_cast<float>(top);
    }
  }
  return largest;
}

float nice_top(float largest) {
  constexpr float kRounded = 1.01f;
  return largest > kRounded ? nice_range(largest) : std::min(nice_range(largest), 1.f);
}

std::vector<float> ticks(const ColourScale& scale) {
  if (scale.diverging) return {-scale.top, -scale.top / 2, 0, scale.top / 2, scale.top};
  std::vector<float> result;
  if (scale.scale == Scale::log) {
    for (int decade = static_cast<int>(ColourScale::kDecades); decade >= 0; --decade)
      result.push_back(static_cast<float>(scale.top * std::pow(10.0, -decade)));
    return result;
  }
  const double digits = scale.top / std::pow(10.0, std::floor(std::log10(scale.top) + 1e-6));
  const int parts = digits > 4.5 && digits < 5.5 ? 5 : 4;
  const auto bottom = static_cast<double>(scale.bottom), reach = static_cast<double>(scale.top) - bottom;
  for (int i = 0; i <= parts; ++i) result.push_back(static_cast<float>(bottom + reach * i / parts));
  return result;
}

}  // namespace headlight
