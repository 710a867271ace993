#include "heads/pattern_difference.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace headlight {
namespace {

/// Of the rest of both sentences, a pair is worth more than all neighbourhoods together.
constexpr int kPair = 1024;
static_assert(kPair > static_cast<int>(kMostAligned));

/// What the sentences from token i of `a` and j of `b` on are worth: kPair a pair, and 1 for each that follows another
/// on both sides. `begun`: the tokens before both are a pair.
class Worth {
 public:
  Worth(const std::vector<Token>& a, const std::vector<Token>& b)
      : size_b_(b.size() + 1), fresh_((a.size() + 1) * size_b_, 0), begun_(fresh_), same_(fresh_.size(), false) {
    for (std::size_t i = a.size(); i-- > 0;)
      for (std::size_t j = b.size(); j-- > 0;) {
        const std::size_t here = at(i, j);
        same_[here] = same_word(a[i], b[j]);
        const int pair = same_[here] ? kPair + begun_[at(i + 1, j + 1)] : 0;
        fresh_[here] = std::max({fresh_[at(i + 1, j)], fresh_[at(i, j + 1)], pair});
        begun_[here] = std::max(fresh_[here], same_[here] ? pair + 1 : 0);
      }
  }
  int rest(std::size_t i, std::size_t j) const { return fresh_[at(i, j)]; }
  bool pairs(std::size_t i, std::size_t j, bool begun) const {
    if (!same_[at(i, j)]) return false;
    const int pair = kPair + begun_[at(i + 1, j + 1)];
    return begun ? begun_[at(i, j)] == pair + 1 : fresh_[at(i, j)] == pair;
  }

 private:
  std::size_t at(std::size_t i, std::size_t j) const { return i * size_b_ + j; }

  std::size_t size_b_;
  std::vector<int> fresh_, begun_;
  std::vector<bool> same_;
};

/// −p ln p, in nats; 0 for p = 0, its limit.
double entropy_term(double p) { return p > 0 ? -p * std::log(p) : 0; }

constexpr float kAbsent = std::numeric_limits<float>::quiet_NaN();
constexpr float kBlocked = -std::numeric_limits<float>::infinity();

/// The cells of one answer on the joint axes.
Matrix spread(const Matrix& weights, const JointAxes& axes, std::optional<Index> JointToken::*side) {
  Matrix result =
      Matrix::Constant(static_cast<Index>(axes.queries.size()), static_cast<Index>(axes.keys.size()), kAbsent);
  for (Index r = 0; r < result.rows(); ++r) {
    const auto query = axes.queries[static_cast<std::size_t>(r)].*side;
    for (Index c = 0; query && c < result.cols(); ++c)
      if (const auto key = axes.keys[static_cast<std::size_t>(c)].*side) result(r, c) = weights(*query, *key);
  }
  return result;
}

/// The rests of one answer on the joint rows, 0 where there are none.
Vector spread(const Vector& rests, const JointAxis& rows, std::optional<Index> JointToken::*side) {
  Vector result = Vector::Zero(std::ssize(rows));
  for (std::size_t r = 0; r < rows.size() && rests.size() > 0; ++r)
    if (const auto query = rows[r].*side) result(static_cast<Index>(r)) = rests(*query);
  return result;
}

/// The weight of a row on a key: nothing where it is blocked or absent.
double given(float weight) { return weight > 0 ? static_cast<double>(weight) : 0; }

/// The sum of a row; 0 where the answer lacks its token.
double sum_of(const Matrix& weights, float rest, Index row) {
  double sum = given(rest);
  for (Index c = 0; c < weights.cols(); ++c) sum += given(weights(row, c));
  return sum;
}

double divergence_of_rows(const PatternPair& pair, Index row, double sum_a, double sum_b) {
  double mixed = 0, alone = 0;
  const auto add = [&](double in_a, double in_b) {
    const double p = in_a / sum_a, q = in_b / sum_b;
    mixed += entropy_term((p + q) / 2);
    alone += (entropy_term(p) + entropy_term(q)) / 2;
  };
  for (Index c = 0; c < pair.a.cols(); ++c) add(given(pair.a(row, c)), given(pair.b(row, c)));
  add(given(pair.rests_a(row)), given(pair.rests_b(row)));
  return std::max(0.0, mixed - alone);
}

}  // namespace

bool same_word(const Token& a, const Token& b) {
  if (a.special != b.special || a.pad != b.pad || a.text != b.text) return false;
  return !a.text.empty() || a.id == b.id;
}

JointAxis align_tokens(const std::vector<Token>& a, const std::vector<Token>& b) {
  assert(a.size() <= kMostAligned && b.size() <= kMostAligned);
  const Worth worth(a, b);
  JointAxis axis, only_b;  // the latter wait until the next pair
  const auto flush = [&] {
    axis.insert(axis.end(), only_b.begin(), only_b.end());
    only_b.clear();
  };
  std::size_t i = 0, j = 0;
  bool begun = false;
  while (i < a.size() || j < b.size()) {
    const bool both = i < a.size() && j < b.size();
    if (both && worth.pairs(i, j, begun)) {
      flush();
      axis.push_back({static_cast<Index>(i++), static_cast<Index>(j++)});
      begun = true;
      continue;
    }
    begun = false;
    if (j == b.size() || (both && worth.rest(i + 1, j) == worth.rest(i, j)))
      axis.push_back({static_cast<Index>(i++), std::nullopt});
    else only_b.push_back({std::nullopt, static_cast<Index>(j++)});
  }
  flush();
  return axis;
}

JointAxis align_tokens(const std::vector<Token>& a, const std::vector<Token>& b, Alignment alignment) {
  if (alignment == Alignment::words) return align_tokens(a, b);
  JointAxis axis(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < axis.size(); ++i) {
    if (i < a.size()) axis[i].a = static_cast<Index>(i);
    if (i < b.size()) axis[i].b = static_cast<Index>(i);
  }
  return axis;
}

PatternPair pair_patterns(const Matrix& a, const Matrix& b, const JointAxes& axes, const Vector& rests_a,
                          const Vector& rests_b) {
  PatternPair pair{spread(a, axes, &JointToken::a), spread(b, axes, &JointToken::b), {}};
  pair.rests_a = spread(rests_a, axes.queries, &JointToken::a);
  pair.rests_b = spread(rests_b, axes.queries, &JointToken::b);
  pair.difference = pair.a.binaryExpr(pair.b, [](float before, float after) {
    if (std::isnan(before) || std::isnan(after)) return kAbsent;
    if (before < 0 && after < 0) return kBlocked;
    return std::max(after, 0.0f) - std::max(before, 0.0f);
  });
  return pair;
}

PatternDifference measure_difference(const PatternPair& pair) {
  PatternDifference result;
  double sum = 0, divergence = 0;
  Index cells = 0, rows = 0;
  for (Index r = 0; r < pair.difference.rows(); ++r) {
    for (Index c = 0; c < pair.difference.cols(); ++c) {
      const float size = std::abs(pair.difference(r, c));
      if (!std::isfinite(size)) continue;
      if (!result.at || size > result.largest) {
        result.largest = size;
        result.at = CellRef{r, c};
      }
      sum += static_cast<double>(size);
      ++cells;
    }
    const double sum_a = sum_of(pair.a, pair.rests_a(r), r), sum_b = sum_of(pair.b, pair.rests_b(r), r);
    if (sum_a == 0 || sum_b == 0) continue;
    divergence += divergence_of_rows(pair, r, sum_a, sum_b);
    ++rows;
  }
  if (cells > 0) result.mean = static_cast<float>(sum / static_cast<double>(cells));
  if (rows > 0) result.divergence = static_cast<float>(divergence / static_cast<double>(rows));
  return result;
}

Matrix shrunk_difference(const Matrix& difference, Index most) {
  const Index rows = std::min(difference.rows(), most), cols = std::min(difference.cols(), most);
  if (rows == difference.rows() && cols == difference.cols()) return difference;
  Matrix small = Matrix::Constant(rows, cols, kAbsent);
  const auto farther = [](float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
    if (a == kBlocked || b == kBlocked) return std::max(a, b);
    return std::abs(b) > std::abs(a) ? b : a;
  };
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      for (Index r = i * difference.rows() / rows; r < (i + 1) * difference.rows() / rows; ++r)
        for (Index c = j * difference.cols() / cols; c < (j + 1) * difference.cols() / cols; ++c)
          small(i, j) = farther(small(i, j), difference(r, c));
  return small;
}

}  // namespace headlight
