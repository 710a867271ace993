#include "heads/head_similarity.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "heads/entropy.h"
#include "heads/head_measures.h"

namespace headlight {
namespace {

using Row = Eigen::Matrix<double, 1, Eigen::Dynamic>;

/// A head's pattern as distributions: p = weight · scale of its row, 0 where blocked. Rows without weight have scale 0.
struct Distributions {
  const Matrix& weights;
  Row scales, entropies;

  double p(Index row, Index column) const {
    return static_cast<double>(std::max(0.0f, weights(row, column))) * scales(row);
  }
};

Distributions distributions_of(const Matrix& thumbnail) {
  Distributions result{thumbnail, Row::Zero(thumbnail.rows()), Row::Zero(thumbnail.rows())};
  for (Index r = 0; r < thumbnail.rows(); ++r) {
    const double sum = thumbnail.row(r).cast<double>().cwiseMax(0.0).sum();
    if (sum > 0) result.scales(r) = 1 / sum;
    for (Index j = 0; j < thumbnail.cols(); ++j) result.entropies(r) += entropy_term(result.p(r, j));
  }
  return result;
}

/// Which rows of a thumbnail show any query that is not padding.
std::vector<bool> rows_that_count(const std::vector<Token>& queries, Index rows) {
  std::vector<bool> counts(static_cast<std::size_t>(rows), false);
  const auto all = static_cast<Index>(queries.size());
  for (Index query = 0; query < all; ++query)
    if (!queries[static_cast<std::size_t>(query)].pad)
      counts[static_cast<std::size_t>(((query + 1) * rows - 1) / all)] = true;
  return counts;
}

float divergence(const Distributions& a, const Distributions& b, const std::vector<bool>& counts) {
  double sum = 0;
  Index count = 0;
  for (Index r = 0; r < a.weights.rows(); ++r) {
    if (!counts[static_cast<std::size_t>(r)] || a.scales(r) == 0 || b.scales(r) == 0) continue;
    double mixed = 0;
    for (Index j = 0; j < a.weights.cols(); ++j) mixed += entropy_term((a.p(r, j) + b.p(r, j)) / 2);
    sum += std::max(0.0, mixed - (a.entropies(r) + b.entropies(r)) / 2);
    ++count;
  }
  return count > 0 ? static_cast<float>(sum / static_cast<double>(count)) : 0.0f;
}

/// The groups of a clustering that goes on.
struct Clusters {
  Matrix apart;                             // (N, N) average divergence of two groups, by their first head
  std::vector<std::vector<Index>> members;  // in their final order; empty once a group went into another

  /// The nearest other group; of equal ones `before`, where one came from, else the lowest.
  Index nearest(Index group, Index before) const {
    Index best = before;
    for (Index other = 0; other < apart.rows(); ++other) {
      if (other == group || members[static_cast<std::size_t>(other)].empty()) continue;
      if (best < 0 || apart(group, other) < apart(group, best)) best = other;
    }
    return best;
  }

  /// `from` goes into `into`.
  void merge(Index into, Index from, const Matrix& divergence) {
    auto& left = members[static_cast<std::size_t>(into)];
    auto& right = members[static_cast<std::size_t>(from)];
    const auto a = static_cast<float>(left.size()), b = static_cast<float>(right.size());
    for (Index other = 0; other < apart.rows(); ++other)
      apart(into, other) = apart(other, into) = (a * apart(into, other) + b * apart(from, other)) / (a + b);
    const float ends[] = {divergence(left.back(), right.front()), divergence(left.back(), right.back()),
                          divergence(left.front(), right.front()), divergence(left.front(), right.back())};
    const auto best = std::min_element(std::begin(ends), std::end(ends)) - std::begin(ends);
    if (best >= 2) std::reverse(left.begin(), left.end());
    if (best % 2 == 1) std::reverse(right.begin(), right.end());
    left.insert(left.end(), right.begin(), right.end());
    right.clear();
  }
};

}  // namespace

std::optional<Matrix> head_divergence(const Trace& trace, Stack stack, Progress& progress, int threads) {
  const std::vector<HeadRef> heads = heads_of(trace, stack);
  const auto count = static_cast<Index>(heads.size());
  progress.done = progress.begin;
  std::vector<Distributions> patterns;
  for (const HeadRef& head : heads) patterns.push_back(distributions_of(trace.head(head).thumbnail));
  const std::vector<bool> counts = rows_that_count(trace.query_tokens(stack).tokens, patterns.front().weights.rows());
  Matrix result = Matrix::Zero(count, count);
  parallel_for(count, threads, [&](Index a) {
    for (Index b = 0; b < a && !progress.stop; ++b)
      result(a, b) = divergence(patterns[static_cast<std::size_t>(a)], patterns[static_cast<std::size_t>(b)], counts);
    progress.done.fetch_add(progress.share / static_cast<float>(count));
  });
  if (progress.stop) return std::nullopt;
  result.triangularView<Eigen::StrictlyUpper>() = result.transpose();
  return result;
}

std::vector<Index> like_beside_like(const Matrix& divergence) {
  const Index count = divergence.rows();
  Clusters clusters{divergence, {}};
  for (Index head = 0; head < count; ++head) clusters.members.push_back({head});
  std::vector<Index> chain;
  for (Index merged = 0; merged + 1 < count;) {
    if (chain.empty()) chain.push_back(0);  // the lowest group never goes into another
    const Index last = chain.back();
    const Index next = clusters.nearest(last, chain.size() > 1 ? chain[chain.size() - 2] : -1);
    if (chain.size() > 1 && next == chain[chain.size() - 2]) {
      chain.resize(chain.size() - 2);
      clusters.merge(std::min(last, next), std::max(last, next), divergence);
      ++merged;
    } else {
      chain.push_back(next);
    }
  }
  std::vector<Index> order = count > 0 ? clusters.members.front() : std::vector<Index>{};
  if (!order.empty() && order.back() < order.front()) std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace headlight
