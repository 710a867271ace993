#include "explain/writers.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "explain/matrices.h"
#include "explain/matrix_source.h"
#include "math/attention.h"
#include "math/embedding.h"
#include "math/experts.h"
#include "math/reference.h"
#include "model/head_text.h"

namespace headlight {
namespace {

using reference::Grid;
using Row = Eigen::RowVectorXd;

void append(WrittenParts& parts, WrittenParts more) {
  for (WrittenPart& part : more)
    if (part.writer.kind == WriterKind::bias) add_bias(parts, part.vector);
    else parts.push_back(std::move(part));
}

/// The stack that a token of this attention's queries belongs to.
Stack own_stack(Stack stack) { return stack == Stack::encoder ? stack : Stack::self; }

WrittenParts embedding_parts(const MatrixSource& source, Stack stack, Index token) {
  const Model& model = source.model;
  const Embeddings& embeddings = source.stack->embeddings;
  const Tokens& tokens = source.trace.query_tokens(stack);
  WrittenParts parts;
  const auto add = [&](WriterKind kind, const Matrix& vectors) {
    if (vectors.size() > 0) parts.push_back({{kind, {.stack = stack}}, vectors.row(token).cast<double>()});
  };
  add(WriterKind::embedding, token_vectors(model, *source.stack, tokens));
  add(WriterKind::position, position_vectors(model, *source.stack, tokens));
  add(WriterKind::type, type_vectors(*source.stack, tokens));
  if (embeddings.norm) norm_frozen(parts, *embeddings.norm);
  if (!embeddings.projection.is_identity()) project_parts(parts, embeddings.projection);
  return parts;
}

/// What the heads of one attention give for a query, and the bias of W_O.
WrittenParts attention_parts(const MatrixSource& source, Stack stack, Index layer, Index token) {
  const Linear& output = source.attention->output;
  const Index heads = source.attention_trace->num_heads(), d_v = source.d_v();
  const Grid weight = output.is_identity() ? Grid(Grid::Identity(heads * d_v, heads * d_v))
                                           : Grid(weight_rows(output, 0, output.outputs()).cast<double>());
  WrittenParts parts;
  for (Index head = 0; head < heads; ++head) {
    const HeadRef ref{layer, head, stack};
    const Row z = z_rows(source.trace, ref, token, 1).cast<double>();
    parts.push_back({{WriterKind::head, ref}, z * weight.middleCols(head * d_v, d_v).transpose()});
  }
  if (output.bias.size() > 0) add_bias(parts, output.bias.cast<double>());
  return parts;
}

WrittenParts ffn_parts(const MatrixSource& source, Stack stack, Index layer, Index token) {
  const Matrix input = rows_of(source.trace, matrix_id(Quantity::ffn_input, {layer, 0, stack}), token, 1);
  const Matrix made = feed_forward(*source.block, source.model.config.activation, input);
  return {{{WriterKind::ffn, {layer, 0, stack}}, made.row(0).cast<double>()}};
}

/// The stream after a sublayer that gave `made`, as run_block adds it (math/block.h).
void add_sublayer(WrittenParts& stream, WrittenParts made, const MatrixSource& source,
                  const std::optional<NormWeights>& after, const NormWeights& own, bool keeps) {
  if (after && !source.off.norm) norm_frozen(made, *after);
  if (!keeps) stream.clear();
  append(stream, std::move(made));
  if (!source.pre) norm_frozen(stream, own);
}

void add_attention(WrittenParts& stream, const Trace& trace, Stack stack, Index layer, Index token) {
  const MatrixSource source(trace, matrix_id(Quantity::attention_input, {layer, 0, stack}));
  const MatrixSource block(trace, matrix_id(Quantity::attention_input, {layer, 0, own_stack(stack)}));
  const bool cross = stack == Stack::cross;
  add_sublayer(stream, attention_parts(source, stack, layer, token), block,
               cross ? std::nullopt : block.block->attention_after_norm,
               cross ? block.block->cross_norm : block.block->attention_norm, !block.off.residual);
}

/// The residual stream before block `layer`.
WrittenParts stream_parts(const Trace& trace, Stack stack, Index layer, Index token) {
  WrittenParts stream =
      embedding_parts(MatrixSource(trace, matrix_id(Quantity::embedding, {0, 0, stack})), stack, token);
  for (Index below = 0; below < layer; ++below) {
    const MatrixSource source(trace, matrix_id(Quantity::ffn_input, {below, 0, stack}));
    add_attention(stream, trace, stack, below, token);
    if (source.block->cross) add_attention(stream, trace, Stack::cross, below, token);
    if (!source.has_ffn()) continue;
    add_sublayer(stream, ffn_parts(source, stack, below, token), source, source.block->ffn_after_norm,
                 source.block->ffn_norm, !source.off.residual || source.block->parallel);
  }
  return stream;
}

WrittenParts given_parts(const Matrix& given, Index token) {
  return {{{WriterKind::input, {}}, given.row(token).cast<double>()}};
}

}  // namespace

std::string writer_name(const Writer& writer) {
  const HeadRef& head = writer.head;
  const std::string stack = stack_prefix(head.stack);
  switch (writer.kind) {
    case WriterKind::embedding: return stack + "embedding";
    case WriterKind::position: return stack + "position";
    case WriterKind::type: return stack + "type";
    case WriterKind::input: return "input";
    case WriterKind::head: return stack + head_label(head);
    case WriterKind::ffn: return stack + "L" + std::to_string(head.layer) + "·ffn";
    case WriterKind::bias: return "bias";
    case WriterKind::relative: return "relative";
    case WriterKind::mask: break;
  }
  return "mask";
}

Row sum_of(const WrittenParts& parts) {
  assert(!parts.empty());
  Row sum = Row::Zero(parts.front().vector.size());
  for (const WrittenPart& part : parts) sum += part.vector;
  return sum;
}

void add_bias(WrittenParts& parts, const Row& vector) {
  const auto bias = std::find_if(parts.begin(), parts.end(),
                                 [](const WrittenPart& part) { return part.writer.kind == WriterKind::bias; });
  if (bias == parts.end()) parts.push_back({{WriterKind::bias, {}}, vector});
  else bias->vector += vector;
}

void norm_frozen(WrittenParts& parts, const NormWeights& weights) {
  if (weights.is_identity()) return;
  const bool centres = weights.kind == NormKind::layer_norm;
  const auto centred = [&](Row row) {
    if (centres) row.array() -= row.mean();
    return row;
  };
  const Row whole = centred(sum_of(parts));
  const double size = std::sqrt(whole.squaredNorm() / static_cast<double>(whole.size()) + double(weights.epsilon));
  const Row scale = weights.scale.cast<double>() / size;
  for (WrittenPart& part : parts) part.vector = centred(std::move(part.vector)).cwiseProduct(scale);
  if (weights.shift.size() > 0) add_bias(parts, weights.shift.cast<double>());
}

void project_parts(WrittenParts& parts, const Linear& weights) {
  if (!weights.is_identity()) {
    const Grid weight = weight_rows(weights, 0, weights.outputs()).cast<double>();
    for (WrittenPart& part : parts) part.vector = Row(part.vector * weight.transpose());
  }
  if (weights.bias.size() > 0) add_bias(parts, weights.bias.cast<double>());
}

WrittenParts parts_of_query(const Trace& trace, Stack stack, Index layer, Index token) {
  const MatrixSource source(trace, matrix_id(Quantity::attention_input, {layer, 0, own_stack(stack)}));
  assert(!source.pattern);
  if (source.bare) return given_parts(source.given->query, token);
  WrittenParts stream = stream_parts(trace, own_stack(stack), layer, token);
  if (stack == Stack::cross) add_attention(stream, trace, Stack::self, layer, token);
  if (source.pre && !source.off.norm)
    norm_frozen(stream, stack == Stack::cross ? source.block->cross_norm : source.block->attention_norm);
  return stream;
}

WrittenParts parts_of_key(const Trace& trace, Stack stack, Index layer, Index token) {
  const MatrixSource source(trace, matrix_id(Quantity::attention_input, {layer, 0, own_stack(stack)}));
  if (source.bare) return given_parts(source.given->key, token);
  return stack == Stack::cross ? parts_of_last(trace, Stack::encoder, token)
                               : parts_of_query(trace, stack, layer, token);
}

WrittenParts parts_of_last(const Trace& trace, Stack stack, Index token) {
  const MatrixSource source(trace, matrix_id(Quantity::last_hidden_state, {0, 0, stack}));
  WrittenParts stream = stream_parts(trace, stack, trace.num_layers(stack), token);
  if (source.stack->final_norm) norm_frozen(stream, *source.stack->final_norm);
  return stream;
}

}  // namespace headlight
