#include "math/attention.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <tuple>

#include "base/pages.h"
#include "base/random.h"
#include "math/kernels/kernels.h"
#include "math/ops.h"
#include "math/position.h"
#include "math/score_terms.h"

namespace headlight {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// Keys per transposed panel; keys per tile of values, which stays in the L1 cache.
constexpr Index kPanel = 64, kValuesTogether = 128;

/// One head in the layout that the products read.
struct Head {
  const AttentionTrace& attention;
  Index head = 0;
  Index keys = 0;          // only the first so many keys are read
  Floats transposed = {};  // the keys' panels one after another, each (d_k, kPanel)
  Floats values = {};      // (keys, d_v); empty where only weights are needed
  DistanceTerms distances = {};
};

Head prepared(const AttentionTrace& attention, Index head, Index keys, bool with_values = false) {
  Head prepared{.attention = attention, .head = head, .keys = keys};
  if (attention.patterns) return prepared;
  const auto k = head_columns(attention.key, attention.kv_head(head), attention.num_kv_heads);
  prepared.transposed.resize(static_cast<std::size_t>((keys + kPanel - 1) / kPanel * kPanel * k.cols()));
  for (Index first = 0; first < keys; first += kPanel)
    math_kernels().transpose(k.data() + first * k.outerStride(), k.outerStride(), std::min(kPanel, keys - first),
                             k.cols(), prepared.transposed.data() + first * k.cols(), kPanel);
  if (attention.distances) prepared.distances = distance_terms(attention, head, keys);
  if (!with_values) return prepared;
  const auto v = head_columns(attention.value, attention.kv_head(head), attention.num_kv_heads);
  prepared.values.resize(static_cast<std::size_t>(keys * v.cols()));
  Eigen::Map<Matrix>(prepared.values.data(), keys, v.cols()) = v.topRows(keys);
  return prepared;
}

/// Scores of rows [first, first + R) of one head for its first keys: `scores` (R, K). Keys beyond are blocked.
void block_scores(const Head& head, Index first, MatrixRef scores) {
  const AttentionTrace& attention = head.attention;
  const Index rows = scores.rows(), columns = scores.cols();
  if (attention.patterns) {
    const Matrix& pattern = (*attention.patterns)[static_cast<std::size_t>(head.head)];
    const Matrix logarithms = pattern.middleRows(first, rows).array().log();
    scores = logarithms.array().isNaN().select(kMinusInfinity, logarithms);
  } else {
    const auto q = head_columns(attention.query, head.head, attention.num_heads());
    for (Index key = 0; key < columns; key += kPanel)
      math_kernels().product({.size = {rows, std::min(kPanel, columns - key), q.cols()},
                              .a = {q.data() + first * q.outerStride(), q.outerStride()},
                              .b = {head.transposed.data() + key * q.cols(), kPanel},
                              .c = {scores.data() + key, scores.outerStride()},
                              .scale = attention.scale});
    if (attention.softcap > 0) soft_cap(scores, attention.softcap);
    if (!head.distances.keys.is_identity())
      scores += content_to_position(attention, head.distances, head.head, first, rows, columns);
    if (head.distances.of_keys.size() > 0)
      scores += position_to_content(attention, head.distances, first, rows, columns);
    if (attention.relative_bias)
      scores += relative_bias_rows(*attention.relative_bias, head.head, first, rows, columns);
  }
  if (const Mask& mask = attention.mask_of(head.head); !mask.is_open()) mask.add_to(scores, first);
}

/// Softmax of the same rows. A pattern from another program is used unchanged while nothing is masked; under a mask its
/// rows are renormalized, which equals masking the unknown scores; signed numbers are no shares, and stay as they are.
void block_softmax(const Head& head, Index first, MatrixRef block, Eigen::Ref<Vector> row_max,
                   Eigen::Ref<Vector> row_sum) {
  const AttentionTrace& attention = head.attention;
  const Mask& mask = attention.mask_of(head.head);
  if (attention.patterns && (mask.is_open() || attention.is_signed)) {
    const Matrix& pattern = (*attention.patterns)[static_cast<std::size_t>(head.head)];
    const auto given = pattern.block(first, 0, block.rows(), block.cols()).array();
    block = given.isNaN().select(0.0f, given);
    if (!mask.is_open()) {
      Matrix added = Matrix::Zero(block.rows(), block.cols());
      mask.add_to(added, first);
      block = (added.array() == kMinusInfinity).select(0.0f, block);
    }
    row_max.setZero();
    row_sum = block.rowwise().sum().transpose();
    return;
  }
  block_scores(head, first, block);
  softmax_rows(block, row_max, row_sum);
  if (attention.sinks.size() > 0) join_sink(attention.sinks(head.head), block, row_max, row_sum);
}

/// The number of keys that rows before `end` are computed for: no key beyond has a weight, unless one was set by hand.
Index keys_for(const AttentionTrace& attention, const Edits& edits, Index end) {
  return attention.patterns || !edits.weights.empty() ? attention.mask->keys() : attention.mask->reach(end);
}

/// Writes the weights set by hand into rows [first, …) of a head; see WeightEdit.
void set_weights(const Edits& edits, const HeadRef& head, Index first, MatrixRef block) {
  const auto before = [](const WeightEdit& edit, const std::pair<HeadRef, Index>& row) {
    return std::tie(edit.head, edit.cell.query) < std::tie(row.first, row.second);
  };
  auto edit = std::lower_bound(edits.weights.begin(), edits.weights.end(), std::pair{head, first}, before);
  const auto of_row = [&](Index query) {
    return edit != edits.weights.end() && edit->head == head && edit->cell.query == query;
  };
  for (Index r = 0; r < block.rows(); ++r) {
    if (!of_row(first + r)) continue;
    auto row = block.row(r);
    double set = 0;
    bool any = false;  // an edit may be from a longer sentence
    const auto begin = edit;
    for (; of_row(first + r); ++edit) {
      if (edit->cell.key >= row.size()) continue;
      any = true;
      set += edit->weight;
      row(edit->cell.key) = 0.0f;
    }
    if (!any) continue;
    const double rest = row.cast<double>().sum();
    // In double: the rest may be as small as the smallest float, and the factor then larger than the largest.
    if (rest > 0) row = (row.cast<double>() * (std::max(0.0, 1.0 - set) / rest)).cast<float>();
    for (auto at = begin; at != edit; ++at)
      if (at->cell.key < row.size()) row(at->cell.key) = at->weight;
  }
}

/// From the softmax to the weights that multiply the values.
void edit_block(const Edits& edits, const HeadRef& head, Index first, MatrixRef block) {
  if (edits.dropout > 0.0f)
    for (Index r = 0; r < block.rows(); ++r)
      for (Index key = 0; key < block.cols(); ++key) block(r, key) *= dropout_factor(edits, head, first + r, key);
  if (!edits.weights.empty()) set_weights(edits, head, first, block);
}

/// The numbers of another program; null: none.
const Matrix* pattern_of(const AttentionTrace& attention, Index head) {
  return attention.patterns ? &(*attention.patterns)[static_cast<std::size_t>(head)] : nullptr;
}

/// −1 for groups of cells that are all blocked, unless a weight there was set by hand.
void mark_blocked(const Matrix& blocked, float mark, Matrix& pooled) {
  pooled = (blocked.array() < 0.0f && pooled.array() == 0.0f).select(mark, pooled);
}

/// −1 where no cell of a group has a weight: the mask blocks it, or the pattern, where one is given, has NaN.
Matrix cells_without(const Mask& mask, const Matrix* pattern, const Region& region, Index most) {
  Matrix picture = Matrix::Constant(std::min(region.num_queries, most), std::min(region.num_keys, most), -1.0f);
  if (mask.is_open() && !pattern) return Matrix::Zero(picture.rows(), picture.cols());
  Matrix added;
  for (Index first = 0; first < region.num_queries; first += kRowBlock) {
    const Index rows = std::min(kRowBlock, region.num_queries - first);
    added.setZero(rows, mask.keys());
    mask.add_to(added, region.first_query + first);
    if (pattern)
      added = pattern->middleRows(region.first_query + first, rows).array().isNaN().select(kMinusInfinity, added);
    const Matrix cells = (added.middleCols(region.first_key, region.num_keys).array() == kMinusInfinity)
                             .select(Matrix::Constant(rows, region.num_keys, -1.0f), 0.0f);
    pool_into(cells, first, region.num_queries, region.num_keys, picture);
  }
  return picture;
}

/// Memory for a block of rows. Each begins on a cache line: no two rows share one.
Matrix room_for_rows(Index rows, Index keys) {
  constexpr Index kLine = 16;
  return {std::min(kRowBlock, rows), (keys + kLine - 1) / kLine * kLine};
}

/// Calls visit(block, first) for blocks of the rows [begin, end), each (rows, keys) as compute(first, block) makes
/// them.
template <class Compute, class Visit>
void for_row_blocks(Index begin, Index end, Index keys, const Compute& compute, const Visit& visit) {
  Matrix space = room_for_rows(end - begin, keys);
  for (Index first = begin; first < end; first += kRowBlock) {
    MatrixRef block = space.topLeftCorner(std::min(kRowBlock, end - first), keys);
    compute(first, block);
    if (!visit(block, first)) return;
  }
}

/// Rows [first, first + count) as compute(first, block) makes their first `keys` columns, `rest` in the columns beyond.
template <class Compute>
Matrix rows_of_blocks(const Mask& mask, Index first, Index count, Index keys, float rest, const Compute& compute) {
  assert(first >= 0 && count >= 0 && first + count <= mask.queries());
  Matrix result(count, mask.keys());
  result.rightCols(mask.keys() - keys).setConstant(rest);
  for (Index begin = 0; begin < count; begin += kRowBlock)
    compute(first + begin, result.block(begin, 0, std::min(kRowBlock, count - begin), keys));
  return result;
}

void compute_softmax(const Head& head, Index first, MatrixRef block) {
  Vector row_max(block.rows()), row_sum(block.rows());
  block_softmax(head, first, block, row_max, row_sum);
}

/// z (R, d_v) of some rows of a head: their weights (R, K) times the values.
void weigh_values(const Head& head, const ConstMatrixRef& weights, MatrixRef z) {
  if (weights.cols() == 0) z.setZero();
  for (Index key = 0; key < weights.cols(); key += kValuesTogether)
    math_kernels().product({.size = {weights.rows(), z.cols(), std::min(kValuesTogether, weights.cols() - key)},
                            .a = {weights.data() + key, weights.outerStride()},
                            .b = {head.values.data() + key * z.cols(), z.cols()},
                            .c = {z.data(), z.outerStride()},
                            .add = key > 0});
}

/// Copies the results of a head's first rows from an earlier answer, in which they are the same: z, and, where the
/// thumbnails of both show the same cells, row_max, row_sum and the rows of `pooled`. Returns the first row whose
/// weights have to be computed.
Index copy_rows(const AttentionTrace& earlier, Index head, Index rows, AttentionTrace& attention, Matrix& pooled) {
  const Index d_v = attention.z.cols() / attention.num_heads(), queries = attention.mask->queries();
  if (attention.keeps_z()) attention.z.block(0, head * d_v, rows, d_v) = earlier.z.block(0, head * d_v, rows, d_v);
  const HeadTrace& from = earlier.heads[static_cast<std::size_t>(head)];
  HeadTrace& to = attention.heads[static_cast<std::size_t>(head)];
  const auto exact = [](const AttentionTrace& one, const Matrix& picture) {
    return picture.rows() == one.mask->queries() && picture.cols() == one.mask->keys();
  };
  const bool same_size = queries == earlier.mask->queries() && attention.mask->keys() == earlier.mask->keys();
  if (!same_size && !(exact(earlier, from.thumbnail) && exact(attention, pooled))) return 0;
  // Where a row of the picture covers several queries, only the rows that cover no new query.
  const Index pictured = rows * pooled.rows() / queries, columns = std::min(pooled.cols(), from.thumbnail.cols());
  rows = pictured * queries / pooled.rows();
  pooled.topLeftCorner(pictured, columns) = from.thumbnail.topLeftCorner(pictured, columns).cwiseMax(0.0f);
  to.row_max.head(rows) = from.row_max.head(rows);
  to.row_sum.head(rows) = from.row_sum.head(rows);
  return rows;
}

const AttentionTrace& attention_of(const Trace& trace, const HeadRef& head) {
  return trace.attention(head.stack, head.layer);
}

}  // namespace

void softmax_rows(MatrixRef scores, Eigen::Ref<Vector> row_max, Eigen::Ref<Vector> row_sum) {
  for (Index r = 0; r < scores.rows(); ++r)
    math_kernels().softmax(scores.data() + r * scores.outerStride(), scores.cols(), row_max(r), row_sum(r));
}

Matrix score_rows(const Trace& trace, const HeadRef& head, Index first, Index count) {
  const AttentionTrace& attention = attention_of(trace, head);
  const Head own = prepared(attention, head.head, keys_for(attention, {}, first + count));
  return rows_of_blocks(*attention.mask, first, count, own.keys, kMinusInfinity,
                        [&](Index begin, MatrixRef block) { block_scores(own, begin, block); });
}

Matrix softmax_of_rows(const Trace& trace, const HeadRef& head, Index first, Index count) {
  return softmax_of_rows(attention_of(trace, head), head.head, first, count);
}

Matrix softmax_of_rows(const AttentionTrace& attention, Index head, Index first, Index count) {
  const Head own = prepared(attention, head, keys_for(attention, {}, first + count));
  return rows_of_blocks(*attention.mask, first, count, own.keys, 0.0f,
                        [&](Index begin, MatrixRef block) { compute_softmax(own, begin, block); });
}

Matrix attention_rows(const Trace& trace, const HeadRef& head, Index first, Index count) {
  const AttentionTrace& attention = attention_of(trace, head);
  const Edits& edits = trace.request.edits;
  const Head own = prepared(attention, head.head, keys_for(attention, edits, first + count));
  return rows_of_blocks(*attention.mask, first, count, own.keys, 0.0f, [&](Index begin, MatrixRef block) {
    compute_softmax(own, begin, block);
    edit_block(edits, head, begin, block);
  });
}

void switch_off(OffAs as, MatrixRef z) {
  if (as == OffAs::zero) z.setZero();
  else z.rowwise() = Vector(z.colwise().mean());
}

float dropout_factor(const Edits& edits, const HeadRef& head, Index query, Index key) {
  if (edits.dropout <= 0.0f) return 1.0f;
  std::uint64_t seed = edits.dropout_seed;
  for (const Index part : {static_cast<Index>(head.stack), head.layer, head.head, query, key})
    seed = Random(seed ^ static_cast<std::uint64_t>(part)).next();
  return Random(seed).uniform() < edits.dropout ? 0.0f : 1.0f / (1.0f - edits.dropout);
}

Matrix z_rows(const Trace& trace, const HeadRef& head, Index first, Index count) {
  const AttentionTrace& attention = attention_of(trace, head);
  if (attention.keeps_z()) return head_columns(attention.z, head.head, attention.num_heads()).middleRows(first, count);
  const Edits& edits = trace.request.edits;
  const bool off = is_off(edits, head), all = off && edits.off_as == OffAs::mean;
  const Index begin = all ? 0 : first, end = all ? attention.mask->queries() : first + count;
  const Head own = prepared(attention, head.head, keys_for(attention, edits, end), true);
  Matrix z(end - begin, attention.value.cols() / attention.num_kv_heads);
  const auto compute = [&](Index row, MatrixRef block) {
    compute_softmax(own, row, block);
    edit_block(edits, head, row, block);
  };
  for_row_blocks(begin, end, own.keys, compute, [&](const ConstMatrixRef& block, Index row) {
    weigh_values(own, block, z.middleRows(row - begin, block.rows()));
    return true;
  });
  if (off) switch_off(edits.off_as, z);
  return all ? Matrix(z.middleRows(first, count)) : z;
}

bool run_head(const HeadRef& head, const Edits& edits, const Matrix& blocked, AttentionTrace& attention,
              const std::atomic<bool>& stop, const AttentionTrace* earlier, Index first_row) {
  const Mask& mask = attention.mask_of(head.head);
  HeadTrace& trace = attention.heads[static_cast<std::size_t>(head.head)];
  trace.row_max.resize(mask.queries());
  trace.row_sum.resize(mask.queries());
  Matrix pooled = Matrix::Zero(blocked.rows(), blocked.cols()), below = pooled;
  const Matrix* pattern = pattern_of(attention, head.head);
  const bool is_signed = attention.is_signed, gaps = attention.has_gaps;
  const Head own = prepared(attention, head.head, keys_for(attention, edits, mask.queries()), true);
  Matrix space = room_for_rows(mask.queries(), own.keys);
  // The earlier answer may lack the z that is stored here.
  if (earlier && attention.keeps_z() && !earlier->keeps_z()) earlier = nullptr, first_row = 0;
  const Index begin = earlier ? copy_rows(*earlier, head.head, first_row, attention, pooled) : 0;
  const Index d_v = attention.z.cols() / attention.num_heads();
  for (Index first = begin; first < mask.queries(); first += kRowBlock) {
    if (stop) return false;
    const Index rows = std::min(kRowBlock, mask.queries() - first);
    MatrixRef block = space.topLeftCorner(rows, keys_for(attention, edits, first + rows));
    block_softmax(own, first, block, trace.row_max.segment(first, rows), trace.row_sum.segment(first, rows));
    edit_block(edits, head, first, block);
    if (!attention.patterns && first + rows > first_row)
      weigh_values(own, block, attention.z.block(first, head.head * d_v, rows, d_v));
    pool_into(block, first, mask.queries(), mask.keys(), pooled);
    if (is_signed) pool_into(Matrix(-block), first, mask.queries(), mask.keys(), below);
  }
  if (is_signed) pooled = farther_from_zero(pooled, below);
  trace.largest = is_signed ? pooled.cwiseAbs().maxCoeff() : math_kernels().largest(pooled.data(), pooled.size());
  const Region whole{.head = head, .num_queries = mask.queries(), .num_keys = mask.keys()};
  if (gaps || !mask.is_open())
    mark_blocked(gaps ? cells_without(mask, pattern, whole, kThumbnail) : blocked, is_signed ? kMinusInfinity : -1.0f,
                 pooled);
  trace.thumbnail = std::move(pooled);
  if (is_off(edits, head) && !attention.patterns)
    switch_off(edits.off_as, attention.z.middleCols(head.head * d_v, d_v));
  return true;
}

Matrix region_weights(const Trace& trace, const Region& region, Index most, const std::atomic<bool>& stop) {
  const AttentionTrace& attention = attention_of(trace, region.head);
  const Mask& mask = attention.mask_of(region.head.head);
  const Index rows = region.num_queries, columns = region.num_keys;
  assert(rows > 0 && columns > 0);
  assert(region.first_query + rows <= mask.queries() && region.first_key + columns <= mask.keys());
  const Matrix* pattern = pattern_of(attention, region.head.head);
  const bool gaps = attention.has_gaps;
  const Matrix blocked = cells_without(mask, gaps ? pattern : nullptr, region, most);
  Matrix pooled = Matrix::Zero(blocked.rows(), blocked.cols()), below = pooled;
  const Edits& edits = trace.request.edits;
  const Head own = prepared(attention, region.head.head, keys_for(attention, edits, region.first_query + rows));
  const Index given = std::clamp<Index>(own.keys - region.first_key, 0, columns);
  const auto compute = [&](Index first, MatrixRef block) {
    compute_softmax(own, first, block);
    edit_block(edits, region.head, first, block);
  };
  for_row_blocks(region.first_query, region.first_query + rows, own.keys, compute,
                 [&](const ConstMatrixRef& block, Index first) {
                   if (stop) return false;
                   const auto part = block.middleCols(std::min(region.first_key, own.keys), given);
                   pool_into(part, first - region.first_query, rows, columns, pooled);
                   if (trace.is_signed) pool_into(Matrix(-part), first - region.first_query, rows, columns, below);
                   return true;
                 });
  if (stop) return {};
  if (trace.is_signed) pooled = farther_from_zero(pooled, below);
  if (gaps || !mask.is_open()) mark_blocked(blocked, trace.blocked(), pooled);
  return pooled;
}

bool is_missing(const Trace& trace, const HeadRef& head, const CellRef& cell) {
  const Matrix* pattern = pattern_of(attention_of(trace, head), head.head);
  return pattern && std::isnan((*pattern)(cell.query, cell.key));
}

Matrix blocked_cells(const Mask& mask, const Region& region, Index most) {
  return cells_without(mask.of_head(region.head.head), nullptr, region, most);
}

}  // namespace headlight
