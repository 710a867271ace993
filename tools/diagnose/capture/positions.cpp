#include "diagnose/capture/positions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

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

/// Pair p of the first `columns` of a row is turned by its position / base^(2p / over).
struct Rotation {
  Pairs pairs = Pairs::half;
  Index columns = 0, over = 0;
  double base = 1e4;
  bool mixed = false;  // with the angles of the other pairing
};

/// Whether that makes `after` of one head whose first row is at position `first`, to this part of its largest number.
bool is_turned(const Grid& before, const Grid& after, const Rotation& one, Index first, double part = 1e-2) {
  const Index count = one.columns / 2;
  const bool halves = one.pairs == Pairs::half;
  const double most = part * std::max(1.0, before.cwiseAbs().maxCoeff());
  for (Index i = 0; i < before.rows(); ++i)
    for (Index c = 0; c < before.cols(); ++c) {
      double turned = before(i, c);
      if (c < 2 * count) {
        const bool left = halves ? c < count : c % 2 == 0;
        const Index step = halves ? count : 1, pair = halves != one.mixed ? c % count : c / 2;
        const double turns = 2 * static_cast<double>(pair) / static_cast<double>(one.over);
        const double angle = static_cast<double>(i + first) * std::pow(one.base, -turns);
        const double other = left ? -before(i, c + step) : before(i, c - step);
        turned = turned * std::cos(angle) + other * std::sin(angle);
      }
      if (!(std::abs(turned - after(i, c)) <= most)) return false;
    }
  return true;
}

}  // namespace

bool are_turned(const CapturedCall& call, double base, Index first) {
  const double part = call.dtype == "bfloat16" ? 3e-2 : call.dtype == "float16" ? 1e-2 : 2e-3;
  const auto width = static_cast<Index>(std::min(call.d_k, 1e6f));
  const auto turned = [&](const std::string& name, const Rotation& one, Index at_first) {
    const Array &before = *call.array(name + ".before"), &after = *call.array(name);
    for (Index b = 0; b < before.shape[0]; ++b)
      for (Index at = 0; at + width <= before.shape[2]; at += width) {
        const Grid own = rows_of(before, b).middleCols(at, width), found = rows_of(after, b).middleCols(at, width);
        if (!is_turned(own, found, one, at_first, part)) return false;
      }
    return true;
  };
  for (const Pairs pairs : {Pairs::half, Pairs::neighbours})
    for (Index columns = width - width % 2; columns >= std::max<Index>(2, width / 4); columns /= 2)
      for (const Index over : {columns, width}) {
        const Rotation one{.pairs = pairs, .columns = columns - columns % 2, .over = over, .base = base};
        if (turned("key", one, 0) && turned("query", one, first)) return true;
      }
  return false;
}

std::optional<Pairs> mixed_pairs(const Grid& before, const Grid& after, std::initializer_list<double> bases) {
  for (const Pairs pairs : {Pairs::half, Pairs::neighbours})
    for (const double base : bases) {
      if (base <= 1 || before.cols() % 2 != 0) continue;
      Rotation rotation{.pairs = pairs, .columns = before.cols(), .over = before.cols(), .base = base, .mixed = true};
      if (!is_turned(before, after, rotation, 0)) continue;
      rotation.mixed = false;  // What is right as well, as a turn by 0 is, is no evidence.
      if (!is_turned(before, after, rotation, 0)) return pairs;
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
    if (!slope || *slope == 0) return std::nullopt;
    slopes.push_back(*slope);
  }
  return slopes;
}

}  // namespace headlight
