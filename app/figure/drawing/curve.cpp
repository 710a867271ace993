#include "figure/drawing/curve.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headlight {
namespace {

constexpr double kFewestSteps = 20;

constexpr std::array<Rgb, 8> kLightSeries{{{0, 104, 180},
                                           {0, 132, 92},
                                           {186, 48, 128},
                                           {140, 106, 0},
                                           {104, 78, 196},
                                           {20, 132, 152},
                                           {120, 84, 60},
                                           {92, 100, 110}}};
constexpr std::array<Rgb, 8> kDarkSeries{{{96, 176, 255},
                                          {72, 208, 150},
                                          {244, 128, 196},
                                          {228, 200, 84},
                                          {174, 156, 255},
                                          {92, 212, 228},
                                          {214, 170, 136},
                                          {168, 176, 188}}};

}  // namespace

float CurveFrame::x(double step) const {
  const double share = last > first ? std::clamp((step - first) / (last - first), 0.0, 1.0) : 0.0;
  return plot.x + static_cast<float>(share) * plot.w;
}

float CurveFrame::y(double value) const {
  const double share = top > bottom ? std::clamp((value - bottom) / (top - bottom), 0.0, 1.0) : 0.0;
  return plot.bottom() - static_cast<float>(share) * plot.h;
}

double CurveFrame::step_at(float at) const {
  const double share = plot.w > 0 ? std::clamp(static_cast<double>((at - plot.x) / plot.w), 0.0, 1.0) : 0.0;
  return first + share * (last - first);
}

double shown_steps(Index step, Index planned) {
  double span = static_cast<double>(std::max<Index>(1, planned));
  while (span > kFewestSteps && span / 2 >= static_cast<double>(step)) span /= 2;
  return span;
}

std::vector<double> round_ticks(double low, double high, int most) {
  if (!(high > low) || most < 2) return {low};
  const double least = (high - low) / most, power = std::pow(10.0, std::floor(std::log10(least)));
  std::vector<double> ticks;
  for (const double factor : {1.0, 2.0, 5.0, 10.0, 20.0, 50.0}) {
    const double apart = factor * power;
    const double first = std::ceil(low / apart - 1e-9), last = std::floor(high / apart + 1e-9);
    if (last - first + 1 > most) continue;
    for (double tick = first; tick <= last; ++tick) ticks.push_back(tick * apart + 0.0);  // no −0
    break;
  }
  if (ticks.empty()) ticks.push_back(low);
  return ticks;
}

Rgb series_colour(std::size_t index, Theme theme) {
  const auto& colours = theme == Theme::dark ? kDarkSeries : kLightSeries;
  return colours[index % colours.size()];
}

}  // namespace headlight
