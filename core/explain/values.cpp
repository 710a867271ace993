// Values of matrices: as the Trace stores them, or computed by their recipe with the functions of math/.
#include <algorithm>
#include <cassert>
#include <limits>

#include "explain/matrix_kinds.h"
#include "explain/matrix_source.h"
#include "explain/recipe.h"
#include "math/attention.h"
#include "math/embedding.h"
#include "math/experts.h"
#include "math/kernels/kernels.h"
#include "math/ops.h"
#include "math/output.h"
#include "math/position.h"
#include "math/score_terms.h"

namespace headlight {
namespace {

using Q = Quantity;
using Op = Operation;

/// The rows of one head in a weight of all heads.
Matrix head_rows(const Linear& linear, Index head, Index heads, Index first, Index count) {
  return weight_rows(linear, head * (linear.outputs() / heads) + first, count);
}

Matrix head_part(const Vector& bias, Index head, Index heads) {
  const Index width = bias.size() / heads;
  return bias.segment(head * width, width);
}

/// Rows of a weight or a bias, of one head where they are per head.
Matrix layer_rows(const MatrixSource& source, const MatrixId& id, const Kind& kind, Index first, Index count) {
  const Linear& layer = *linear_of(source, id.quantity);
  const bool weight = kind.role == MatrixRole::weight;
  if (kind.part != MatrixPart::head) return weight ? weight_rows(layer, first, count) : Matrix(layer.bias);
  const AttentionTrace& attention = *source.attention_trace;
  const bool of_query = &layer == &source.attention->query;
  const Index head = of_query ? id.head : attention.kv_head(id.head);
  const Index heads = of_query ? attention.num_heads() : attention.num_kv_heads;
  return weight ? head_rows(layer, head, heads, first, count) : head_part(layer.bias, head, heads);
}

Matrix learned_rows(const MatrixSource& source, const MatrixId& id, Index first, Index count) {
  const Kind& kind = kind_of(id.quantity);
  if (kind.role == MatrixRole::weight || kind.role == MatrixRole::bias)
    return layer_rows(source, id, kind, first, count);
  if (kind.role == MatrixRole::scale) return norm_of(source, id.quantity)->scale;
  if (kind.role == MatrixRole::shift) return norm_of(source, id.quantity)->shift;
  switch (id.quantity) {
    case Q::token_lookup: {
      StackWeights unscaled;
      unscaled.embeddings.tokens = source.stack->embeddings.tokens;
      return token_vectors(source.model, unscaled, source.trace.query_tokens(id.stack)).middleRows(first, count);
    }
    case Q::type_vectors:
      return type_vectors(*source.stack, source.trace.query_tokens(id.stack)).middleRows(first, count);
    case Q::given_query: return source.given->query.middleRows(first, count);
    case Q::given_key: return source.given->key.middleRows(first, count);
    case Q::given_value: return source.given->value.middleRows(first, count);
    case Q::given_weights:
      return (*source.attention_trace->patterns)[static_cast<std::size_t>(id.head)].middleRows(first, count);
    case Q::distance_keys:
    case Q::distance_queries: {
      const DistanceVectors& vectors = *source.attention_trace->distances;
      return head_columns(id.quantity == Q::distance_keys ? vectors.keys : vectors.queries, id.head,
                          source.attention_trace->num_heads())
                 .middleRows(first, count) *
             source.attention_trace->scale;
    }
    case Q::relative_bias:
      return relative_bias_rows(*source.attention_trace->relative_bias, id.head, first, count,
                                source.attention_trace->mask->keys());
    case Q::sink: return Matrix::Constant(1, 1, source.attention_trace->sinks(id.head));
    case Q::mask:
    case Q::head_mask: {
      const Mask& mask = source.attention_trace->mask_of(id.head);
      Matrix added(count, mask.keys());
      for (Index r = 0; r < count; ++r)
        for (Index key = 0; key < mask.keys(); ++key) added(r, key) = mask.added(first + r, key);
      return added;
    }
    case Q::vocabulary_bias: return source.model.output->bias;
    default: break;
  }
  assert(false);
  return {};
}

/// Matrices that the Trace stores whole.
const Matrix* stored(const MatrixSource& source, const MatrixId& id) {
  switch (id.quantity) {
    case Q::embedding: return &source.stack_trace->embedding;
    case Q::block_output: return &source.block_trace->output;
    case Q::last_hidden_state: return &source.stack_trace->last_hidden_state();
    default: return nullptr;
  }
}

/// The order of Eigen's sums depends on the number of rows and on the alignment of a row. Computed row by row, each as
/// a separate matrix, a cell is the same float whatever rows are computed with it.
template <class MakeRow>
Matrix by_rows(const Matrix& x, const MakeRow& make_row) {
  Matrix made;
  for (Index r = 0; r < x.rows(); ++r) {
    const Matrix row = make_row(Matrix(x.row(r)));
    if (r == 0) made.resize(x.rows(), row.cols());
    made.row(r) = row;
  }
  return made;
}

/// The z of all heads side by side.
Matrix concatenated(const MatrixSource& source, const MatrixId& id, Index first, Index count) {
  const Index heads = source.attention_trace->num_heads(), d_v = source.d_v();
  Matrix all(count, heads * d_v);
  for (Index head = 0; head < heads; ++head)
    all.middleCols(head * d_v, d_v) = z_rows(source.trace, {id.layer, head, id.stack}, first, count);
  return all;
}

/// The terms of the distance for one head, as the scores have them.
Matrix distance_scores(const MatrixSource& source, const MatrixId& id, Index first, Index count) {
  const AttentionTrace& attention = *source.attention_trace;
  const Index keys = attention.mask->keys();
  const DistanceTerms terms = distance_terms(attention, id.head, keys);
  if (id.quantity == Q::position_to_content) return position_to_content(attention, terms, first, count, keys);
  return content_to_position(attention, terms, id.head, first, count, keys);
}

/// A norm over the queries or keys of all heads together: the columns of one head.
Matrix wide_norm(const MatrixSource& source, const MatrixId& projected, const NormWeights& weights, Index first,
                 Index count) {
  const Index d_k = source.d_k(), parts = weights.scale.size() / d_k;
  const Index group = source.attention_trace->num_heads() / parts;
  Matrix all(count, parts * d_k);
  for (Index part = 0; part < parts; ++part) {
    MatrixId one = projected;
    one.head = part * group;
    all.middleCols(part * d_k, d_k) = rows_of(source.trace, one, first, count);
  }
  return norm(all, weights).middleCols(projected.head / group * d_k, d_k);
}

/// The values that one function of math/ computes from the stored parts of the Trace.
std::optional<Matrix> known(const MatrixSource& source, const MatrixId& id, Index first, Index count) {
  const AttentionTrace* attention = source.attention_trace;
  const Tokens* tokens = nullptr;
  switch (id.quantity) {
    case Q::token_vectors:
      tokens = &source.trace.query_tokens(id.stack);
      return token_vectors(source.model, *source.stack, *tokens).middleRows(first, count);
    case Q::position_vectors:
      tokens = &source.trace.query_tokens(id.stack);
      return position_vectors(source.model, *source.stack, *tokens).middleRows(first, count);
    case Q::query: return head_columns(attention->query, id.head, attention->num_heads()).middleRows(first, count);
    case Q::key:
      return head_columns(attention->key, attention->kv_head(id.head), attention->num_kv_heads)
          .middleRows(first, count);
    case Q::value:
      return head_columns(attention->value, attention->kv_head(id.head), attention->num_kv_heads)
          .middleRows(first, count);
    case Q::scores: return score_rows(source.trace, head_ref(id), first, count);
    case Q::softmax: return softmax_of_rows(source.trace, head_ref(id), first, count);
    case Q::weights: return attention_rows(source.trace, head_ref(id), first, count);
    case Q::z: return z_rows(source.trace, head_ref(id), first, count);
    case Q::concat: return concatenated(source, id, first, count);
    case Q::attention_output: return linear(concatenated(source, id, first, count), source.attention->output);
    case Q::hidden:
      return ffn_hidden(source.block->gate, source.block->up, source.model.config.activation,
                        rows_of(source.trace, beside(id, Q::ffn_input), first, count));
    case Q::content_to_position:
    case Q::position_to_content: return distance_scores(source, id, first, count);
    case Q::routing:
      return routing(*source.block->experts, rows_of(source.trace, beside(id, Q::ffn_input), first, count));
    case Q::shared_output: {
      const Matrix input = rows_of(source.trace, beside(id, Q::ffn_input), first, count);
      Matrix made = expert_output(*source.block->experts->shared, source.model.config.activation, input);
      const Matrix weights = shared_weight(*source.block->experts, input);
      for (Index r = 0; r < count; ++r) made.row(r) *= weights(r, 0);
      return made;
    }
    case Q::ffn_output:
      if (!source.block->experts) return std::nullopt;
      return feed_forward(*source.block, source.model.config.activation,
                          rows_of(source.trace, beside(id, Q::ffn_input), first, count));
    case Q::uncapped_logits: return uncapped_logit_rows(source.trace, first, count);
    case Q::unscaled_logits:
      return linear(rows_of(source.trace, recipe(source.trace, id).operands[0], first, count),
                    *source.model.output->weight);
    case Q::logits: return logit_rows(source.trace, first, count);
    case Q::probabilities: {
      Matrix rows = logit_rows(source.trace, first, count);
      for (Index r = 0; r < count; ++r) rows.row(r) = probabilities(rows.row(r));
      return rows;
    }
    default: return std::nullopt;
  }
}

/// exp(score - largest) of each row, or of the sink beside it, with the exponential that the softmax of the same scores
/// uses.
Matrix exponentials(Matrix rows, bool of_logits, float sink) {
  for (Index r = 0; r < rows.rows(); ++r) {
    const float largest = std::max(rows.row(r).maxCoeff(), sink);
    const bool blocked = largest == -std::numeric_limits<float>::infinity();
    auto row = rows.row(r);
    if (blocked) {
      row.setZero();
    } else if (of_logits) {
      row = (row.cast<double>().array() - largest).exp().cast<float>();
    } else {
      row.array() -= largest;
      math_kernels().exponential(row.data(), row.size());
    }
  }
  return rows;
}

Matrix columns(const Matrix& x, Index offset, Index width) {
  Matrix y = Matrix::Zero(x.rows(), width);
  for (Index c = 0; c < width; ++c)
    if (c + offset >= 0 && c + offset < x.cols()) y.col(c) = x.col(c + offset);
  return y;
}

Matrix projection(const MatrixSource& source, const Recipe& recipe, const Matrix& input) {
  Linear weights{.weight = whole(source.trace, recipe.operands[1]).middleCols(recipe.offset, input.cols()), .bias = {}};
  if (recipe.operands.size() > 2) weights.bias = whole(source.trace, recipe.operands[2]);
  return linear(input, weights);
}

Matrix computed(const MatrixSource& source, const MatrixId& id, const Recipe& recipe, Index first, Index count) {
  const auto rows = [&](std::size_t operand) { return rows_of(source.trace, recipe.operands[operand], first, count); };
  const auto all = [&](std::size_t operand) { return whole(source.trace, recipe.operands[operand]); };
  switch (recipe.operation) {
    case Op::sum:
    case Op::mask: {
      Matrix sum = rows(0);
      for (std::size_t i = 1; i < recipe.operands.size(); ++i) sum += rows(i);
      return sum;
    }
    case Op::scale: return rows(0) * recipe.factor;
    case Op::soft_cap: {
      Matrix x = rows(0);
      soft_cap(x, recipe.factor);
      return x;
    }
    case Op::projection: return projection(source, recipe, rows(0));
    case Op::columns: {
      Matrix y = columns(rows(0), recipe.offset, shape(source.trace, id).cols);
      if (recipe.operands.size() > 1) y.rowwise() += Vector(all(1));
      return y;
    }
    case Op::dot_product: {
      const Matrix k = all(1);
      return by_rows(rows(0), [&](const Matrix& q) { return Matrix(q * k.transpose()); });
    }
    case Op::logarithm: return rows(0).array().log();
    case Op::exponential:
      return exponentials(rows(0), id.quantity == Q::logit_exponentials,
                          recipe.operands.size() > 1 ? all(1)(0, 0) : -std::numeric_limits<float>::infinity());
    case Op::dropout: {
      Matrix dropped = rows(0);
      for (Index r = 0; r < count; ++r)
        for (Index key = 0; key < dropped.cols(); ++key)
          dropped(r, key) *= dropout_factor(source.trace.request.edits, head_ref(id), first + r, key);
      return dropped;
    }
    case Op::weighted_sum: {
      const Matrix v = all(1);
      return by_rows(rows(0), [&](const Matrix& weights) { return Matrix(weights * v); });
    }
    case Op::layer_norm:
    case Op::rms_norm: {
      const NormWeights& weights = *norm_of(source, id.quantity);
      if (is_per_head(id.quantity) && source.is_wide(weights))
        return wide_norm(source, recipe.operands[0], weights, first, count);
      return norm(rows(0), weights);
    }
    case Op::activation: {
      Matrix x = rows(0);
      activate(x, activation_of(source, id.quantity));
      return x;
    }
    default: break;
  }
  assert(false);
  return {};
}

}  // namespace

Matrix rows_of(const Trace& trace, const MatrixId& asked, Index first, Index count) {
  assert(exists(trace, asked));
  const MatrixId id = origin(trace, asked);
  const MatrixSource source(trace, id);
  if (is_learned(id.quantity)) return learned_rows(source, id, first, count);
  if (const Matrix* whole_one = stored(source, id)) return whole_one->middleRows(first, count);
  if (auto rows = known(source, id, first, count)) return std::move(*rows);
  return computed(source, id, recipe(trace, id), first, count);
}

}  // namespace headlight
