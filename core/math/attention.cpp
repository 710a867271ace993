#include "math/attention.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "math/exponential.h"

namespace headlight {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// Scores of a block of rows: q (R, d_k), k (S, d_k) → (R, S).
void block_scores(const ConstMatrixRef& q, const ConstMatrixRef& k, const Mask& mask, float scale, Index first,
                  Matrix& scores) {
  scores.resize(q.rows(), k.rows());
  scores.noalias() = q * k.transpose();
  scores *= scale;
  mask.add_to(scores, first);
}

/// Takes rows [first, first + rows) of a pattern of (R, C) cells into its shrunk picture: the larger value stays.
void pool_into(const ConstMatrixRef& rows, Index first, Index pattern_rows, Matrix& picture) {
  const Index columns = rows.cols();
  for (Index r = 0; r < rows.rows(); ++r) {
    auto target = picture.row(((first + r + 1) * picture.rows() - 1) / pattern_rows);
    if (columns == picture.cols()) {
      target = target.cwiseMax(rows.row(r));
      continue;
    }
    for (Index j = 0; j < picture.cols(); ++j) {
      const Index begin = j * columns / picture.cols(), end = (j + 1) * columns / picture.cols();
      target(j) = std::max(target(j), rows.row(r).segment(begin, end - begin).maxCoeff());
    }
  }
}

/// Calls visit(block, first) for the row blocks that hold queries [begin, end), each computed whole.
template <class Visit>
void for_row_blocks(const Trace& trace, Index layer, Index head, Index begin, Index end, const Visit& visit) {
  const AttentionTrace& attention = trace.blocks[static_cast<std::size_t>(layer)].self;
  const auto q = head_columns(attention.query, head, trace.num_heads());
  const auto k = head_columns(attention.key, head, trace.num_heads());
  Matrix scores;
  for (Index first = begin / kRowBlock * kRowBlock; first < end; first += kRowBlock) {
    const Index rows = std::min(kRowBlock, trace.queries() - first);
    block_scores(q.middleRows(first, rows), k, trace.mask, trace.scale, first, scores);
    if (!visit(scores, first)) return;
  }
}

/// Rows [first, first + count) put together from their blocks, each changed by `finish` before it is cut.
template <class Finish>
Matrix rows_from_blocks(const Trace& trace, Index layer, Index head, Index first, Index count, const Finish& finish) {
  assert(first >= 0 && count >= 0 && first + count <= trace.queries());
  Matrix result(count, trace.keys());
  for_row_blocks(trace, layer, head, first, first + count, [&](Matrix& block, Index block_first) {
    finish(block);
    const Index begin = std::max(first, block_first), end = std::min(first + count, block_first + block.rows());
    result.middleRows(begin - first, end - begin) = block.middleRows(begin - block_first, end - begin);
    return true;
  });
  return result;
}

void softmax(Matrix& block) {
  Vector row_max(block.rows()), row_sum(block.rows());
  softmax_rows(block, row_max, row_sum);
}

}  // namespace

void softmax_rows(MatrixRef scores, Eigen::Ref<Vector> row_max, Eigen::Ref<Vector> row_sum) {
  const Index columns = scores.cols();
  for (Index r = 0; r < scores.rows(); ++r) {
    float* row = &scores(r, 0);
    float largest = kMinusInfinity;
    for (Index j = 0; j < columns; ++j) largest = row[j] > largest ? row[j] : largest;
    row_max(r) = largest;
    if (largest == kMinusInfinity) {
      // NaN is larger than nothing: a row of it must not pass for one that may attend to nothing.
      const bool blocked = std::all_of(row, row + columns, [](float score) { return score == kMinusInfinity; });
      row_sum(r) = blocked ? 0.0f : std::numeric_limits<float>::quiet_NaN();
      std::fill(row, row + columns, row_sum(r));
      continue;
    }
    for (Index j = 0; j < columns; ++j) row[j] = exponential(row[j] - largest);
    double sum = 0;
    for (Index j = 0; j < columns; ++j) sum += row[j];
    const float divisor = static_cast<float>(sum);
    row_sum(r) = divisor;
    for (Index j = 0; j < columns; ++j) row[j] /= divisor;
  }
}

Matrix score_rows(const Trace& trace, Index layer, Index head, Index first, Index count) {
  return rows_from_blocks(trace, layer, head, first, count, [](Matrix&) {});
}

Matrix attention_rows(const Trace& trace, Index layer, Index head, Index first, Index count) {
  return rows_from_blocks(trace, layer, head, first, count, softmax);
}

bool run_head(const Mask& mask, float scale, Index head, Index num_heads, const Matrix& blocked,
              AttentionTrace& attention, const std::atomic<bool>& stop) {
  const auto q = head_columns(attention.query, head, num_heads);
  const auto k = head_columns(attention.key, head, num_heads);
  const auto v = head_columns(attention.value, head, num_heads);
  auto z = attention.z.middleCols(head * v.cols(), v.cols());
  HeadTrace& trace = attention.heads[static_cast<std::size_t>(head)];
  trace.row_max.resize(q.rows());
  trace.row_sum.resize(q.rows());
  trace.thumbnail = blocked;
  Matrix pooled = Matrix::Zero(blocked.rows(), blocked.cols());
  Matrix block;
  for (Index first = 0; first < q.rows(); first += kRowBlock) {
    if (stop) return false;
    const Index rows = std::min(kRowBlock, q.rows() - first);
    block_scores(q.middleRows(first, rows), k, mask, scale, first, block);
    softmax_rows(block, trace.row_max.segment(first, rows), trace.row_sum.segment(first, rows));
    z.middleRows(first, rows).noalias() = block * v;
    pool_into(block, first, q.rows(), pooled);
  }
  trace.thumbnail = (blocked.array() < 0.0f).select(blocked, pooled);
  return true;
}

Matrix region_weights(const Trace& trace, const Region& region, Index most, const std::atomic<bool>& stop) {
  const Index rows = region.num_queries, columns = region.num_keys;
  assert(rows > 0 && columns > 0);
  assert(region.first_query + rows <= trace.queries() && region.first_key + columns <= trace.keys());
  const Matrix blocked = blocked_cells(trace.mask, region, most);
  Matrix pooled = Matrix::Zero(blocked.rows(), blocked.cols());
  for_row_blocks(trace, region.layer, region.head, region.first_query, region.first_query + rows,
                 [&](Matrix& block, Index block_first) {
                   if (stop) return false;
                   softmax(block);
                   const Index begin = std::max(region.first_query, block_first);
                   const Index end = std::min(region.first_query + rows, block_first + block.rows());
                   pool_into(block.block(begin - block_first, region.first_key, end - begin, columns),
                             begin - region.first_query, rows, pooled);
                   return true;
                 });
  if (stop) return {};
  return (blocked.array() < 0.0f).select(blocked, pooled);
}

Matrix blocked_cells(const Mask& mask, const Region& region, Index most) {
  Matrix picture = Matrix::Constant(std::min(region.num_queries, most), std::min(region.num_keys, most), -1.0f);
  Matrix added;
  for (Index first = 0; first < region.num_queries; first += kRowBlock) {
    const Index rows = std::min(kRowBlock, region.num_queries - first);
    added.setZero(rows, mask.keys());
    mask.add_to(added, region.first_query + first);
    const Matrix cells = (added.middleCols(region.first_key, region.num_keys).array() == kMinusInfinity)
                             .select(Matrix::Constant(rows, region.num_keys, -1.0f), 0.0f);
    pool_into(cells, first, region.num_queries, picture);
  }
  return picture;
}

}  // namespace headlight
