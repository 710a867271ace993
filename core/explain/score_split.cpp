#include "explain/score_split.h"

#include <algorithm>
#include <cmath>

#include "explain/matrix_source.h"
#include "math/position.h"
#include "math/reference.h"
#include "math/score_terms.h"

namespace headlight {
namespace {

using Row = Eigen::RowVectorXd;

/// Each part of what is projected as a part of one head's query or key, (1, d_k).
void project_head(WrittenParts& parts, const Linear& weights, const std::optional<NormWeights>& norm,
                  const Rotary* rotary, Index head, Index heads, Index position) {
  const Index outputs = weights.is_identity() ? parts.front().vector.size() : weights.outputs();
  const Index d_k = outputs / heads, first = head * d_k;
  const auto cut = [&] {
    for (WrittenPart& part : parts) part.vector = Row(part.vector.segment(first, d_k));
  };
  const bool wide = norm && norm->scale.size() > d_k;  // over all heads together
  if (wide || weights.is_identity()) {
    project_parts(parts, weights);
    if (wide) norm_frozen(parts, *norm);
    cut();
  } else {
    Linear own{.weight = weight_rows(weights, first, d_k), .bias = {}};
    if (weights.bias.size() > 0) own.bias = weights.bias.segment(first, d_k);
    project_parts(parts, own);
  }
  if (norm && !wide) norm_frozen(parts, *norm);
  if (!rotary) return;
  for (WrittenPart& part : parts) part.vector = reference::rotated(part.vector, *rotary, 1, position).row(0);
}

/// A query and a key of the pass.
struct Pair {
  Row query, key;
};

Pair pair_of(const AttentionTrace& attention, Index head, const CellRef& cell) {
  return {head_columns(attention.query, head, attention.num_heads()).row(cell.query).cast<double>(),
          head_columns(attention.key, attention.kv_head(head), attention.num_kv_heads).row(cell.key).cast<double>()};
}

/// The vectors of the distance that a query and a key are multiplied with; empty where there are none.
Pair distance_pair(const AttentionTrace& attention, Index head, const CellRef& cell) {
  if (!attention.distances) return {};
  const DistanceVectors& vectors = *attention.distances;
  const Index row = distance_row(vectors, cell.query - cell.key);
  const auto of_head = [&](const Matrix& all) {
    return all.size() > 0 ? Row(head_columns(all, head, attention.num_heads()).row(row).cast<double>()) : Row();
  };
  return {.query = of_head(vectors.queries), .key = of_head(vectors.keys)};
}

double relative_bias(const AttentionTrace& attention, Index head, const CellRef& cell) {
  return double(relative_bias_rows(*attention.relative_bias, head, cell.query, 1, cell.key + 1)(0, cell.key));
}

}  // namespace

Result<ScoreSplit> split_score(const Trace& trace, const HeadRef& head, const CellRef& cell) {
  const AttentionTrace& attention = trace.attention(head.stack, head.layer);
  if (attention.patterns)
    return bad_input("why", "SOURCE", "a model, whose scores have terms", "weights that another program computed");
  if (attention.softcap > 0)
    return bad_input("why", "SOURCE", "scores that are sums", "a soft cap (tanh), which is not linear");
  const MatrixSource source(trace, matrix_id(Quantity::scaled, head));
  WrittenParts queries = parts_of_query(trace, head.stack, head.layer, cell.query);
  WrittenParts keys = parts_of_key(trace, head.stack, head.layer, cell.key);
  const AttentionWeights& weights = *source.attention;
  project_head(queries, weights.query, weights.query_norm, source.rotary(), head.head, attention.num_heads(),
               cell.query);
  project_head(keys, weights.key, weights.key_norm, source.rotary(), attention.kv_head(head.head),
               attention.num_kv_heads, cell.key);

  const Writer relative{WriterKind::relative, {}}, mask{WriterKind::mask, {}};
  const double scale = static_cast<double>(attention.scale);
  const Pair whole = pair_of(attention, head.head, cell), distance = distance_pair(attention, head.head, cell);
  ScoreSplit split;
  split.score = scale * whole.query.dot(whole.key);
  const auto add = [&](const Writer& query, const Writer& key, double value) {
    split.terms.push_back({query, key, value});
    split.sum += value;
  };
  for (const WrittenPart& query : queries) {
    for (const WrittenPart& key : keys) add(query.writer, key.writer, scale * query.vector.dot(key.vector));
    if (distance.key.size() > 0) add(query.writer, relative, scale * query.vector.dot(distance.key));
  }
  if (distance.key.size() > 0) split.score += scale * whole.query.dot(distance.key);
  if (distance.query.size() > 0) {
    for (const WrittenPart& key : keys) add(relative, key.writer, scale * key.vector.dot(distance.query));
    split.score += scale * whole.key.dot(distance.query);
  }
  const auto add_alone = [&](const Writer& writer, double value) {
    add(writer, writer, value);
    split.score += value;
  };
  if (attention.relative_bias) add_alone(relative, relative_bias(attention, head.head, cell));
  const double masked = static_cast<double>(attention.mask_of(head.head).added(cell.query, cell.key));
  split.blocked = std::isinf(masked);
  if (!split.blocked && masked != 0) add_alone(mask, masked);
  for (const ScoreTerm& term : split.terms) {
    const auto list = [](std::vector<Writer>& writers, const Writer& one) {
      if (std::find(writers.begin(), writers.end(), one) == writers.end()) writers.push_back(one);
    };
    list(split.queries, term.query);
    list(split.keys, term.key);
  }
  return split;
}

}  // namespace headlight
