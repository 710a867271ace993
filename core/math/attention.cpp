#include "math/attention.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <tuple>
#include <utility>

#include "base/random.h"
#include "math/exponential.h"
#include "math/position.h"

namespace headlight {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// Scores of rows [first, first + rows) of one head, (rows, S).
void block_scores(const AttentionTrace& attention, Index head, Index first, Index rows, Matrix& scores) {
  if (attention.patterns) {
    scores = (*attention.patterns)[static_cast<std::size_t>(head)].middleRows(first, rows).array().log();
  } else {
    const auto q = head_columns(attention.query, head, attention.num_heads()).middleRows(first, rows);
    const auto k = head_columns(attention.key, attention.kv_head(head), attention.num_kv_heads);
    scores.resize(q.rows(), k.rows());
    scores.noalias() = q * k.transpose();
    scores *= attention.scale;
    if (attention.relative_bias)
      scores += relative_bias_rows(*attention.relative_bias, head, first, rows, scores.cols());
  }
  attention.mask->add_to(scores, first);
}

/// Softmax of the same rows. A pattern that another program computed is taken as it is while nothing is masked; a mask
/// leaves its rows' proportions, which is what masking the unknown scores would do.
void block_softmax(const AttentionTrace& attention, Index head, Index first, Index rows, Matrix& block,
                   Eigen::Ref<Vector> row_max, Eigen::Ref<Vector> row_sum) {
  if (attention.patterns && attention.mask->is_open()) {
    block = (*attention.patterns)[static_cast<std::size_t>(head)].middleRows(first, rows);
    row_max.setZero();
    row_sum = block.rowwise().sum().transpose();
    return;
  }
  block_scores(attention, head, first, rows, block);
  softmax_rows(block, row_max, row_sum);
}

/// Puts the weights that were set by hand into rows [first, …) of a head; see WeightEdit.
void set_weights(const Edits& edits, const HeadRef& head, Index first, Matrix& block) {
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
    bool any = false;  // an edit may be of a longer sentence
    const auto begin = edit;
    for (; of_row(first + r); ++edit) {
      if (edit->cell.key >= row.size()) continue;
      any = true;
      set += edit->weight;
      row(edit->cell.key) = 0.0f;
    }
    if (!any) continue;
    const double rest = row.cast<double>().sum();
    // In double: what is left may be as small as floats get, and the factor then larger than any of them.
    if (rest > 0) row = (row.cast<double>() * (std::max(0.0, 1.0 - set) / rest)).cast<float>();
    for (auto at = begin; at != edit; ++at)
      if (at->cell.key < row.size()) row(at->cell.key) = at->weight;
  }
}

/// From the softmax to the weights that multiply the values.
void edit_block(const Edits& edits, const HeadRef& head, Index first, Matrix& block) {
  if (edits.dropout > 0.0f)
    for (Index r = 0; r < block.rows(); ++r)
      for (Index key = 0; key < block.cols(); ++key) block(r, key) *= dropout_factor(edits, head, first + r, key);
  if (!edits.weights.empty()) set_weights(edits, head, first, block);
}

/// −1 for the groups that are blocked through and through, unless something was put there by hand.
Matrix picture_of(const Matrix& blocked, const Matrix& pooled) {
  return (blocked.array() < 0.0f && pooled.array() == 0.0f).select(blocked, pooled);
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

/// Calls visit(rows, first) for the row blocks that hold queries [begin, end), each computed whole by
/// compute(first, rows, block).
template <class Compute, class Visit>
void for_row_blocks(Index queries, Index begin, Index end, const Compute& compute, const Visit& visit) {
  Matrix block;
  for (Index first = begin / kRowBlock * kRowBlock; first < end; first += kRowBlock) {
    compute(first, std::min(kRowBlock, queries - first), block);
    if (!visit(block, first)) return;
  }
}

/// Rows [first, first + count) put together from their blocks.
template <class Compute>
Matrix rows_from_blocks(const Mask& mask, Index first, Index count, const Compute& compute) {
  assert(first >= 0 && count >= 0 && first + count <= mask.queries());
  Matrix result(count, mask.keys());
  for_row_blocks(mask.queries(), first, first + count, compute, [&](const Matrix& block, Index block_first) {
    const Index begin = std::max(first, block_first), end = std::min(first + count, block_first + block.rows());
    result.middleRows(begin - first, end - begin) = block.middleRows(begin - block_first, end - begin);
    return true;
  });
  return result;
}

void compute_softmax(const AttentionTrace& attention, Index head, Index first, Index rows, Matrix& block) {
  Vector row_max(rows), row_sum(rows);
  block_softmax(attention, head, first, rows, block, row_max, row_sum);
}

const AttentionTrace& attention_of(const Trace& trace, const HeadRef& head) {
  return trace.attention(head.stack, head.layer);
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

Matrix score_rows(const Trace& trace, const HeadRef& head, Index first, Index count) {
  const AttentionTrace& attention = attention_of(trace, head);
  return rows_from_blocks(*attention.mask, first, count, [&](Index begin, Index rows, Matrix& block) {
    block_scores(attention, head.head, begin, rows, block);
  });
}

Matrix softmax_of_rows(const Trace& trace, const HeadRef& head, Index first, Index count) {
  const AttentionTrace& attention = attention_of(trace, head);
  return rows_from_blocks(*attention.mask, first, count, [&](Index begin, Index rows, Matrix& block) {
    compute_softmax(attention, head.head, begin, rows, block);
  });
}

Matrix attention_rows(const Trace& trace, const HeadRef& head, Index first, Index count) {
  const AttentionTrace& attention = attention_of(trace, head);
  return rows_from_blocks(*attention.mask, first, count, [&](Index begin, Index rows, Matrix& block) {
    compute_softmax(attention, head.head, begin, rows, block);
    edit_block(trace.request.edits, head, begin, block);
  });
}

float dropout_factor(const Edits& edits, const HeadRef& head, Index query, Index key) {
  if (edits.dropout <= 0.0f) return 1.0f;
  std::uint64_t place = edits.dropout_seed;
  for (const Index part : {static_cast<Index>(head.stack), head.layer, head.head, query, key})
    place = Random(place ^ static_cast<std::uint64_t>(part)).next();
  return Random(place).uniform() < edits.dropout ? 0.0f : 1.0f / (1.0f - edits.dropout);
}

bool run_head(const HeadRef& head, const Edits& edits, const Matrix& blocked, AttentionTrace& attention,
              const std::atomic<bool>& stop) {
  const Mask& mask = *attention.mask;
  HeadTrace& trace = attention.heads[static_cast<std::size_t>(head.head)];
  trace.row_max.resize(mask.queries());
  trace.row_sum.resize(mask.queries());
  Matrix pooled = Matrix::Zero(blocked.rows(), blocked.cols());
  Matrix block;
  for (Index first = 0; first < mask.queries(); first += kRowBlock) {
    if (stop) return false;
    const Index rows = std::min(kRowBlock, mask.queries() - first);
    block_softmax(attention, head.head, first, rows, block, trace.row_max.segment(first, rows),
                  trace.row_sum.segment(first, rows));
    edit_block(edits, head, first, block);
    if (!attention.patterns) {
      const auto v = head_columns(attention.value, attention.kv_head(head.head), attention.num_kv_heads);
      attention.z.block(first, head.head * v.cols(), rows, v.cols()).noalias() = block * v;
    }
    pool_into(block, first, mask.queries(), pooled);
  }
  trace.thumbnail = picture_of(blocked, pooled);
  if (is_off(edits, head) && !attention.patterns) {
    auto z = attention.z.middleCols(head.head * (attention.z.cols() / attention.num_heads()),
                                    attention.z.cols() / attention.num_heads());
    if (edits.off_as == OffAs::zero) z.setZero();
    else z.rowwise() = Vector(z.colwise().mean());
  }
  return true;
}

Matrix region_weights(const Trace& trace, const Region& region, Index most, const std::atomic<bool>& stop) {
  const AttentionTrace& attention = attention_of(trace, region.head);
  const Mask& mask = *attention.mask;
  const Index rows = region.num_queries, columns = region.num_keys;
  assert(rows > 0 && columns > 0);
  assert(region.first_query + rows <= mask.queries() && region.first_key + columns <= mask.keys());
  const Matrix blocked = blocked_cells(mask, region, most);
  Matrix pooled = Matrix::Zero(blocked.rows(), blocked.cols());
  const auto compute = [&](Index first, Index count, Matrix& block) {
    compute_softmax(attention, region.head.head, first, count, block);
    edit_block(trace.request.edits, region.head, first, block);
  };
  for_row_blocks(mask.queries(), region.first_query, region.first_query + rows, compute,
                 [&](const Matrix& block, Index block_first) {
                   if (stop) return false;
                   const Index begin = std::max(region.first_query, block_first);
                   const Index end = std::min(region.first_query + rows, block_first + block.rows());
                   pool_into(block.block(begin - block_first, region.first_key, end - begin, columns),
                             begin - region.first_query, rows, pooled);
                   return true;
                 });
  if (stop) return {};
  return picture_of(blocked, pooled);
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
