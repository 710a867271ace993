#include "diagnose/capture/positions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "diagnose/capture/capture_masks.h"

namespace headlight {
namespace {

/// The angle by which each pair of columns (rows, pairs) of one head was turned; nothing where they were not.
std::optional<Grid> angles_between(const Grid& before, const Grid& after, Index columns, Pairs pairs) {
  const Index count = columns / 2;
  Grid angles(before.rows(), count);
  for (Index i = 0; i < before.rows(); ++i)
    for (Index p = 0; p < count; ++p) {
      const Index x = pairs == Pairs::half ? p : 2 * p, y = pairs == Pairs::half ? p + count : 2 * p + 1;
      const double length = before(i, x) * before(i, x) + before(i, y) * before(i, y);
      const double turned = after(i, x) * after(i, x) + after(i, y) * after(i, y);
      if (std::abs(length - turned) > 2e-2 * std::max(length, turned) && length > 1e-6) return {};
      angles(i, p) = std::atan2(before(i, x) * after(i, y) - before(i, y) * after(i, x),
                                before(i, x) * after(i, x) + before(i, y) * after(i, y));
    }
  return angles;
}

double wrapped(double angle) { return std::remainder(angle, 2 * std::numbers::pi); }

}  // namespace

std::optional<Pairs> mixed_pairs(const Grid& before, const Grid& after, std::initializer_list<double> bases) {
  const Index columns = before.cols(), count = columns / 2;
  // Whether row i was turned by i, column c with its partner by the angle of pair_of(c).
  const auto turns = [&](Pairs pairs, double base, const auto& pair_of) {
    double apart = 0;
    for (Index i = 0; i < before.rows(); ++i)
      for (Index c = 0; c < columns; ++c) {
        const bool first = pairs == Pairs::half ? c < count : c % 2 == 0;
        const Index step = pairs == Pairs::half ? count : 1;
        const double angle =
            static_cast<double>(i) * std::pow(base, -static_cast<double>(pair_of(c)) / static_cast<double>(count));
        const double other = first ? -before(i, c + step) : before(i, c - step);
        apart = std::max(apart, std::abs(before(i, c) * std::cos(angle) + other * std::sin(angle) - after(i, c)));
      }
    return apart <= 1e-2 * std::max(1.0, before.cwiseAbs().maxCoeff());
  };
  const auto halves = [&](Index c) { return c % count; };
  const auto neighbours = [](Index c) { return c / 2; };
  for (const Pairs pairs : {Pairs::half, Pairs::neighbours})
    for (const double base : bases) {
      if (base <= 1 || columns % 2 != 0) continue;
      const bool of_half = pairs == Pairs::half;
      const bool mixed = of_half ? turns(pairs, base, neighbours) : turns(pairs, base, halves);
      // What is right as well, as a turn by 0 is, is no evidence.
      if (mixed && !(of_half ? turns(pairs, base, halves) : turns(pairs, base, neighbours))) return pairs;
    }
  return std::nullopt;
}

std::optional<Turned> turned_by(const Grid& before, const Grid& after, double known_base) {
  Index columns = 0;
  for (Index c = 0; c < before.cols(); ++c)
    if (!(before.col(c) - after.col(c)).isZero(1e-6)) columns = c + 1;
  columns += columns % 2;
  for (const Pairs pairs : {Pairs::half, Pairs::neighbours}) {
    const auto angles = angles_between(before, after, columns, pairs);
    if (!angles || columns < 2 || columns > before.cols()) continue;
    Turned turned{.pairs = pairs, .columns = columns, .base = known_base};
    const Index count = columns / 2, middle = std::max<Index>(1, count / 2);
    const auto step = [&](Index row, Index pair) { return wrapped((*angles)(row + 1, pair) - (*angles)(row, pair)); };
    turned.steady = true;
    for (Index i = 0; i + 1 < before.rows(); ++i) turned.steady = turned.steady && std::abs(step(i, 0) - 1) < 2e-2;
    if (before.rows() > 1 && middle < count && turned.steady) {
      double sum = 0;
      for (Index i = 0; i + 1 < before.rows(); ++i) sum += step(i, middle);
      const double frequency = sum / static_cast<double>(before.rows() - 1);
      if (frequency > 0)
        turned.base = std::pow(frequency, -static_cast<double>(columns) / static_cast<double>(2 * middle));
    }
    const double slowest =
        turned.base > 0 ? std::pow(turned.base, -2.0 * static_cast<double>(count - 1) / static_cast<double>(columns))
                        : 0;
    if (slowest > 0) turned.first = wrapped((*angles)(0, count - 1)) / slowest;
    return turned;
  }
  return std::nullopt;
}

std::vector<double> geometric_slopes(Index heads, double most, Index count) {
  std::vector<double> slopes;
  for (Index h = 0; h < count; ++h)
    slopes.push_back(std::exp2(-most * static_cast<double>(h + 1) / static_cast<double>(heads)));
  return slopes;
}

std::optional<std::vector<double>> slopes_of(const Array& bias, const Allowed& allowed) {
  std::vector<double> slopes;
  for (Index h = 0; h < bias.shape[1]; ++h) {
    const Grid cells = cells_of(bias, 0, h);
    const Index offset = cells.cols() - cells.rows();
    std::optional<double> slope;
    for (Index i = 0; offset >= 0 && i < cells.rows(); ++i)
      for (Index j = 0; j < i + offset; ++j) {
        if (!allowed(i, j) || !allowed(i, i + offset)) continue;
        const double one = (cells(i, i + offset) - cells(i, j)) / static_cast<double>(i + offset - j);
        if (slope && std::abs(one - *slope) >= 1e-3 * std::max(1.0, std::abs(*slope))) return std::nullopt;
        slope = one;
      }
    if (!slope || *slope == 0 || cells.cols() < 3) return std::nullopt;
    slopes.push_back(*slope);
  }
  return slopes;
}

}  // namespace headlight
