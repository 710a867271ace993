#include "read/picture/resample.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace headlight {
namespace {

/// Weights are whole numbers of 2⁻²²: 8 bits of a result, and 2 for what filters reach beyond it, leave so many of 32.
constexpr int kWeightBits = 32 - 8 - 2;

double sinc(double x) {
  x *= std::numbers::pi;
  return x == 0 ? 1 : std::sin(x) / x;
}

/// The filter at a distance, and the distance from which on it is 0.
double filter_at(Resampling resampling, double x) {
  const double far = std::abs(x);
  switch (resampling) {
    case Resampling::box: return x > -0.5 && x <= 0.5 ? 1 : 0;
    case Resampling::bilinear: return far < 1 ? 1 - far : 0;
    case Resampling::hamming: {
      if (far == 0 || far >= 1) return far == 0 ? 1 : 0;
      const double angle = far * std::numbers::pi;
      // Constants of single precision, as Pillow has them.
      return std::sin(angle) / angle * (static_cast<double>(0.54f) + static_cast<double>(0.46f) * std::cos(angle));
    }
    case Resampling::bicubic: return cubic(far, -0.5);
    case Resampling::lanczos: return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
    case Resampling::nearest: break;
  }
  return 0;
}

double reach_of(Resampling resampling) {
  constexpr double kReaches[] = {0, 3, 1, 2, 0.5, 1};
  return kReaches[static_cast<std::size_t>(resampling)];
}

/// What a place of the result takes: the weights of places from `first` on.
struct Taken {
  Index first = 0;
  std::vector<double> weights = {};
};

std::vector<Taken> taken_by_each(Index from, Index to, Resampling resampling) {
  const double scale = static_cast<double>(from) / static_cast<double>(to), wide = std::max(scale, 1.0);
  const double reach = reach_of(resampling) * wide, narrow = 1.0 / wide;
  std::vector<Taken> each(static_cast<std::size_t>(to));
  for (Index i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    Taken& taken = each[static_cast<std::size_t>(i)];
    taken.first = std::max(static_cast<Index>(centre - reach + 0.5), Index{0});
    const Index end = std::min(static_cast<Index>(centre + reach + 0.5), from);
    double sum = 0;
    for (Index at = taken.first; at < end; ++at) {
      taken.weights.push_back(filter_at(resampling, (static_cast<double>(at) - centre + 0.5) * narrow));
      sum += taken.weights.back();
    }
    for (double& weight : taken.weights)
      if (sum != 0) weight /= sum;
  }
  return each;
}

/// How bytes and numbers that are not rounded are weighed and added up.
struct ByteSums {
  using Number = std::uint8_t;
  using Sum = std::int32_t;
  static constexpr Sum kBegin = 1 << (kWeightBits - 1);
  static Sum weight(double weight) {
    return static_cast<Sum>((weight < 0 ? -0.5 : 0.5) + weight * static_cast<double>(1 << kWeightBits));
  }
  static Number number(Sum sum) { return static_cast<Number>(std::clamp(sum >> kWeightBits, 0, 255)); }
};
struct FloatSums {
  using Number = float;
  using Sum = double;
  static constexpr Sum kBegin = 0;
  static Sum weight(double weight) { return weight; }
  static Number number(Sum sum) { return static_cast<Number>(sum); }
};

/// `lines` of `from` places, each of `step` numbers, as lines of `to` places.
template <class Sums>
std::vector<typename Sums::Number> along(const std::vector<typename Sums::Number>& numbers, Index lines, Index from,
                                         Index to, Index step, Resampling resampling) {
  if (from == to) return numbers;
  const auto each = taken_by_each(from, to, resampling);
  std::vector<typename Sums::Number> result;
  result.reserve(static_cast<std::size_t>(lines * to * step));
  std::vector<typename Sums::Sum> sums(static_cast<std::size_t>(step));
  for (Index line = 0; line < lines; ++line)
    for (const Taken& taken : each) {
      std::fill(sums.begin(), sums.end(), Sums::kBegin);
      const auto* at = numbers.data() + (line * from + taken.first) * step;
      for (const double stated : taken.weights) {
        const auto weight = Sums::weight(stated);
        for (auto& sum : sums) sum += *at++ * weight;
      }
      for (const auto sum : sums) result.push_back(Sums::number(sum));
    }
  return result;
}

/// Across, then down.
template <class Sums>
std::vector<typename Sums::Number> both_ways(const std::vector<typename Sums::Number>& numbers, const Picture& picture,
                                             Index width, Index height, Resampling resampling) {
  const auto wide = along<Sums>(numbers, picture.height, picture.width, width, 3, resampling);
  return along<Sums>(wide, 1, picture.height, height, 3 * width, resampling);
}

/// The place that each place of the result has, added up as Pillow does; -1 beyond the end.
std::vector<Index> nearest_places(Index from, Index to) {
  const double step = static_cast<double>(from) / static_cast<double>(to);
  std::vector<Index> places;
  double at = step * 0.5;
  for (Index i = 0; i < to; ++i, at += step)
    places.push_back(at < static_cast<double>(from) ? static_cast<Index>(at) : -1);
  return places;
}

/// The picture of these columns and rows; black where there is none.
Picture picked(const Picture& picture, const std::vector<Index>& columns, const std::vector<Index>& rows) {
  Picture result{std::ssize(columns), std::ssize(rows), {}};
  result.pixels.resize(columns.size() * rows.size() * 3);
  std::uint8_t* to = result.pixels.data();
  for (const Index y : rows)
    for (const Index x : columns) {
      if (x >= 0 && y >= 0) std::copy_n(picture.pixels.data() + (y * picture.width + x) * 3, 3, to);
      to += 3;
    }
  return result;
}

/// The middle `to` of `from` places, the odd one left out behind them; padded where they are fewer, an odd place before
/// them.
std::vector<Index> middle_places(Index from, Index to) {
  const Index first = to <= from ? (from - to) / 2 : -((to - from + 1) / 2);
  std::vector<Index> places;
  for (Index i = first; i < first + to; ++i) places.push_back(i < from ? std::max(i, Index{-1}) : -1);
  return places;
}

}  // namespace

double cubic(double distance, double a) {
  const double x = std::abs(distance);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

std::vector<float> resized_unrounded(const Picture& picture, Index width, Index height, Resampling resampling) {
  return both_ways<FloatSums>({picture.pixels.begin(), picture.pixels.end()}, picture, width, height, resampling);
}

Status check_picture_size(std::string_view where, Index width, Index height) {
  if (width >= 1 && height >= 1 && width <= kMostPictureSide && height <= kMostPictureSide &&
      width * height <= kMostPicturePixels)
    return Done{};
  return bad_input(where, "size", "1 to 65,500 pixels a side, 100 million in all",
                   std::to_string(width) + "×" + std::to_string(height), ErrorCode::too_large);
}

Picture resized(const Picture& picture, Index width, Index height, Resampling resampling) {
  if (resampling == Resampling::nearest)
    return picked(picture, nearest_places(picture.width, width), nearest_places(picture.height, height));
  return {width, height, both_ways<ByteSums>(picture.pixels, picture, width, height, resampling)};
}

Picture cropped(const Picture& picture, Index width, Index height) {
  return picked(picture, middle_places(picture.width, width), middle_places(picture.height, height));
}

}  // namespace headlight
