#include "diagnose/capture/positions.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

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

/// Pair p of so many `columns` of a row, those from `from` on, is turned by its position / base^(2p / over).
struct Rotation {
  Pairs pairs = Pairs::half;
  Index from = 0, columns = 0, over = 0;
  double base = 1e4;
  bool mixed = false;  // with the angles of the other pairing
};

/// Which rows of an operand are looked at; empty: all.
using Chosen = std::vector<bool>;

/// Whether that makes `after` of one head whose first row is at position `first`, to this part of its largest number.
bool is_turned(const Grid& before, const Grid& after, const Rotation& one, Index first, double part = 1e-2,
               const Chosen& rows = {}) {
  const Index count = one.columns / 2;
  const bool halves = one.pairs == Pairs::half;
  const double most = part * std::max(1.0, before.cwiseAbs().maxCoeff());
  for (Index i = 0; i < before.rows(); ++i)
    for (Index c = -one.from; c + one.from < before.cols(); ++c) {
      const Index at = c + one.from;
      if (!rows.empty() && !rows[static_cast<std::size_t>(i)]) break;
      double turned = before(i, at);
      if (c >= 0 && c < 2 * count) {
        const bool left = halves ? c < count : c % 2 == 0;
        const Index step = halves ? count : 1, pair = halves != one.mixed ? c % count : c / 2;
        const double turns = 2 * static_cast<double>(pair) / static_cast<double>(one.over);
        const double angle = static_cast<double>(i + first) * std::pow(one.base, -turns);
        const double other = left ? -before(i, at + step) : before(i, at - step);
        turned = turned * std::cos(angle) + other * std::sin(angle);
      }
      if (!(std::abs(turned - after(i, at)) <= most)) return false;
    }
  return true;
}

/// Keys that are more than padding: others than their own query see them, or that query sees others.
Chosen tokens_of(const Allowed& allowed, Index first) {
  Chosen keys(static_cast<std::size_t>(allowed.cols()));
  for (Index j = 0; j < allowed.cols(); ++j) {
    const Index own = j - first;
    const bool has_own = own >= 0 && own < allowed.rows();
    const Index others = allowed.col(j).count() - (has_own && allowed(own, j) ? 1 : 0);
    keys[static_cast<std::size_t>(j)] = others > 0 || (has_own && allowed(own, j) && allowed.row(own).count() > 1);
  }
  if (std::find(keys.begin(), keys.end(), true) == keys.end()) keys.assign(keys.size(), true);
  return keys;
}

/// The columns of a head that positions change: the first, and how many.
std::pair<Index, Index> columns_turned(const CapturedCall& call, Index width) {
  Index from = width, end = 0;
  for (const char* name : {"query", "key"}) {
    const std::vector<float>& after = call.array(name)->values;
    const std::vector<float>& before = call.array(name + std::string(".before"))->values;
    for (std::size_t at = 0; at < after.size() && at < before.size(); ++at) {
      const Index column = static_cast<Index>(at) % width;
      if (before[at] != after[at]) from = std::min(from, column), end = std::max(end, column + 1);
    }
  }
  return {from, end - from + (end - from) % 2};
}

}  // namespace

bool are_turned(const CapturedCall& call, double base, Index first, const std::vector<std::vector<Allowed>>& allowed) {
  const double part = call.dtype == "bfloat16" ? 3e-2 : call.dtype == "float16" ? 1e-2 : 2e-3;
  const auto width = static_cast<Index>(std::min(call.d_k, 1e6f));
  const auto turned = [&](const std::string& name, Index b, const Rotation& one, Index at_first, const Chosen& rows) {
    const Array &before = *call.array(name + ".before"), &after = *call.array(name);
    for (Index at = 0; at + width <= before.shape[2]; at += width) {
      const Grid own = rows_of(before, b).middleCols(at, width), found = rows_of(after, b).middleCols(at, width);
      if (!is_turned(own, found, one, at_first, part, rows)) return false;
    }
    return true;
  };
  // Only how far two tokens are apart matters: each sentence may begin anywhere, as behind padding.
  const auto fits = [&](Index b, const Rotation& one) {
    if (turned("key", b, one, 0, {}) && turned("query", b, one, first, {})) return true;
    if (allowed.size() <= static_cast<std::size_t>(b)) return false;
    const Allowed& mask = allowed[static_cast<std::size_t>(b)][0];
    const Chosen keys = tokens_of(mask, first);
    Chosen queries(static_cast<std::size_t>(mask.rows())), last(keys.size());
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const std::size_t own = i + static_cast<std::size_t>(first);
      queries[i] = own < keys.size() && keys[own] && mask.row(static_cast<Index>(i)).any();
    }
    last[static_cast<std::size_t>(std::find(keys.rbegin(), keys.rend(), true).base() - keys.begin()) - 1] = true;
    for (Index away = -mask.cols(); away < mask.cols(); ++away)
      if (turned("key", b, one, away, last) && turned("key", b, one, away, keys) &&
          turned("query", b, one, first + away, queries))
        return true;
    return false;
  };
  const auto all_fit = [&](const Rotation& one) {
    for (Index b = 0; b < call.array("query")->shape[0]; ++b)
      if (!fits(b, one)) return false;
    return true;
  };
  const auto [from, count] = columns_turned(call, width);
  for (const Pairs pairs : {Pairs::half, Pairs::neighbours}) {
    if (count > 1 && from + count <= width &&
        all_fit({.pairs = pairs, .from = from, .columns = count, .over = count, .base = base}))
      return true;
    for (Index columns = width - width % 2; columns >= std::max<Index>(2, width / 4); columns /= 2)
      for (const Index over : {columns, width})
        if (all_fit({.pairs = pairs, .columns = columns - columns % 2, .over = over, .base = base})) return true;
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
