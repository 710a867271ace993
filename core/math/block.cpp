#include "math/block.h"

#include <cassert>
#include <cmath>
#include <string_view>

#include "base/parallel.h"
#include "math/attention.h"
#include "math/ops.h"
#include "math/position.h"

namespace headlight {
namespace {

/// Below this many multiplications a head is not worth a thread.
constexpr Index kWorthAThread = 1 << 20;

/// The heads of an attention whose query, key and value (or patterns) are there. False when stopped.
bool run_heads(Stack stack, Index layer, const Edits& edits, const Matrix& blocked, const Run& run,
               const AttentionTrace* earlier, AttentionTrace& attention) {
  const Index heads = attention.num_heads();
  const Index work = attention.mask->queries() * attention.mask->keys() * attention.query.cols() / heads;
  parallel_for(heads, work < kWorthAThread ? 1 : run.threads, [&](Index head) {
    if (run.progress.stop) return;
    run_head({layer, head, stack}, edits, blocked, attention, run.progress.stop, earlier, run.first);
    run.progress.done.fetch_add(run.share / static_cast<float>(heads));
  });
  return !run.progress.stop;
}

/// The rows that an earlier answer lends, and below them those that compute(input's rows from there on) makes.
template <class Compute>
Matrix continued(const Matrix* earlier, Index first, const ConstMatrixRef& input, const Compute& compute) {
  if (!earlier || first == 0) return compute(input);
  const Matrix rest = compute(input.bottomRows(input.rows() - first));
  Matrix all(first + rest.rows(), rest.cols());
  all.topRows(first) = earlier->topRows(first);
  all.bottomRows(rest.rows()) = rest;
  return all;
}

/// The block of an earlier answer; null where nothing is lent.
const BlockTrace* earlier_block(const Run& run, Index layer) {
  return run.earlier ? &run.earlier->blocks[static_cast<std::size_t>(layer)] : nullptr;
}

}  // namespace

std::string mask_name(Stack stack, std::optional<Index> own_layer) {
  const std::string name = stack == Stack::encoder ? "encoder mask" : stack == Stack::cross ? "cross mask" : "mask";
  return own_layer ? name + " of layer " + std::to_string(*own_layer) : name;
}

Result<ResolvedMask> resolve_mask(const Request& request, Stack stack, std::optional<Index> layer) {
  const LayerEdit* own = layer ? layer_edit(request.edits, stack, *layer) : nullptr;
  const bool has_own = own && own->mask;
  auto mask = resolve(has_own ? *own->mask : mask_spec(request, stack), query_tokens(request, stack),
                      key_tokens(request, stack));
  if (!mask) {
    constexpr std::string_view kGeneral = "mask";  // as resolve() calls every mask
    assert(mask.error().message.starts_with(kGeneral));
    return Error{mask_name(stack, has_own ? layer : std::nullopt) + mask.error().message.substr(kGeneral.size())};
  }
  const Region whole{.num_queries = mask->queries(), .num_keys = mask->keys()};
  Matrix blocked = blocked_cells(*mask, whole, kThumbnail);
  return ResolvedMask{std::make_shared<const Mask>(std::move(*mask)), std::move(blocked)};
}

Matrix project(const Linear& weights, const std::optional<NormWeights>& head_norm, const std::optional<Rotary>& rotary,
               const ConstMatrixRef& x, Index heads, int threads, Index first_place) {
  Matrix y = linear(x, weights, threads);
  if (head_norm) y = norm_heads(y, *head_norm, heads);
  if (rotary) y = rotated(y, *rotary, heads, first_place);
  return y;
}

Result<std::optional<AttentionTrace>> run_attention(const AttentionWeights& weights, Stack stack, Index layer,
                                                    const ConstMatrixRef& query_input, const ConstMatrixRef& key_input,
                                                    const ConstMatrixRef& value_input, const Run& run) {
  // Places are compared within one sentence: a cross-attention turns nothing.
  const std::optional<Rotary> none;
  const std::optional<Rotary>& rotary = stack == Stack::cross ? none : run.stack.rotary;
  AttentionTrace attention;
  attention.num_kv_heads = weights.num_kv_heads;
  const BlockTrace* earlier_layer = earlier_block(run, layer);
  const AttentionTrace* earlier = !earlier_layer ? nullptr : stack == Stack::cross ? &*earlier_layer->cross
                                                                                   : &earlier_layer->self;
  const auto rows = [&](Matrix AttentionTrace::*field, const ConstMatrixRef& input, const auto& compute) {
    return continued(earlier ? &(earlier->*field) : nullptr, run.first, input, compute);
  };
  attention.query = rows(&AttentionTrace::query, query_input, [&](const ConstMatrixRef& x) {
    return project(weights.query, weights.query_norm, rotary, x, weights.num_heads, run.threads,
                   query_input.rows() - x.rows());
  });
  if (earlier && stack == Stack::cross) {  // of the same encoder's output
    attention.key = earlier->key;
    attention.value = earlier->value;
  } else {
    attention.key = rows(&AttentionTrace::key, key_input, [&](const ConstMatrixRef& x) {
      return project(weights.key, weights.key_norm, rotary, x, weights.num_kv_heads, run.threads,
                     key_input.rows() - x.rows());
    });
    attention.value = rows(&AttentionTrace::value, value_input,
                           [&](const ConstMatrixRef& x) { return linear(x, weights.value, run.threads); });
  }
  const Index d_k = attention.query.cols() / weights.num_heads, d_v = attention.value.cols() / weights.num_kv_heads;
  assert(attention.query.cols() == d_k * weights.num_heads && attention.key.cols() == d_k * weights.num_kv_heads);
  attention.z.resize(attention.query.rows(), d_v * weights.num_heads);
  attention.heads.resize(static_cast<std::size_t>(weights.num_heads));

  const Edits& edits = run.request.edits;
  const LayerEdit* own = layer_edit(edits, stack, layer);
  const auto scale = own && own->scale ? own->scale : edits.scale;
  attention.scale = scale.value_or(weights.scale.value_or(1.0f / std::sqrt(static_cast<float>(d_k))));
  attention.relative_bias = weights.relative_bias;
  const ResolvedMask* mask = stack == Stack::cross ? &run.cross_mask : &run.mask;
  std::optional<ResolvedMask> own_mask;
  if (own && own->mask) {
    auto resolved = resolve_mask(run.request, stack, layer);
    if (!resolved) return resolved.error();
    mask = &own_mask.emplace(std::move(*resolved));
  }
  attention.mask = mask->mask;
  if (!run_heads(stack, layer, edits, mask->blocked, run, earlier, attention)) return std::optional<AttentionTrace>{};
  attention.output = rows(&AttentionTrace::output, attention.z,
                          [&](const ConstMatrixRef& z) { return linear(z, weights.output, run.threads); });
  return std::optional{std::move(attention)};
}

Result<std::optional<AttentionTrace>> run_patterns(const std::vector<Matrix>& patterns, Stack stack, Index layer,
                                                   const Run& run) {
  AttentionTrace attention;
  attention.patterns = &patterns;
  attention.heads.resize(patterns.size());
  attention.num_kv_heads = attention.num_heads();
  auto mask = resolve_mask(run.request, stack, layer);
  if (!mask) return mask.error();
  attention.mask = mask->mask;
  if (!run_heads(stack, layer, run.request.edits, mask->blocked, run, nullptr, attention))
    return std::optional<AttentionTrace>{};
  return std::optional{std::move(attention)};
}

Matrix ffn_hidden(const BlockWeights& weights, Activation activation, const ConstMatrixRef& input, int threads) {
  if (weights.ungated()) {
    Matrix hidden = linear(input, weights.up, threads);
    activate(hidden, activation, threads);
    return hidden;
  }
  Matrix hidden = linear(input, weights.gate, threads);
  activate(hidden, activation, threads);
  return hidden.cwiseProduct(linear(input, weights.up, threads));
}

Result<std::optional<BlockTrace>> run_block(const BlockWeights& weights, Stack stack, Index layer, const Matrix& x,
                                            const Run& run) {
  const bool pre = run.model.config.norm == Norm::pre;
  const BlockTrace* earlier = earlier_block(run, layer);
  const auto rows = [&](Matrix BlockTrace::*field, const ConstMatrixRef& input, const auto& compute) {
    return continued(earlier ? &(earlier->*field) : nullptr, run.first, input, compute);
  };
  const auto before = [&](Matrix BlockTrace::*field, const Matrix& stream, const NormWeights& own) {
    return pre ? rows(field, stream, [&](const ConstMatrixRef& part) { return norm(part, own); }) : stream;
  };
  // The stream and what is added to it, normed where the norm comes last.
  const auto after = [&](Matrix BlockTrace::*field, const Matrix& stream, const Matrix& added, const NormWeights& own) {
    return rows(field, stream, [&](const ConstMatrixRef& part) -> Matrix {
      const Matrix sum = part + added.bottomRows(part.rows());
      return pre ? sum : norm(sum, own);
    });
  };
  std::optional<BlockTrace> block(std::in_place);
  block->attention_input = before(&BlockTrace::attention_input, x, weights.attention_norm);
  const Matrix& input = block->attention_input;
  auto self = run_attention(weights.self, stack, layer, input, input, input, run);
  if (!self) return self.error();
  if (!*self) return std::optional<BlockTrace>{};
  block->self = std::move(**self);
  block->after_attention = after(&BlockTrace::after_attention, x, block->self.output, weights.attention_norm);
  const Matrix* stream = &block->after_attention;

  if (weights.cross) {
    const Matrix& memory = run.encoder->last_hidden_state;
    block->cross_input = before(&BlockTrace::cross_input, *stream, weights.cross_norm);
    auto cross = run_attention(*weights.cross, Stack::cross, layer, block->cross_input, memory, memory, run);
    if (!cross) return cross.error();
    if (!*cross) return std::optional<BlockTrace>{};
    block->cross = std::move(*cross);
    block->after_cross = after(&BlockTrace::after_cross, *stream, block->cross->output, weights.cross_norm);
    stream = &block->after_cross;
  }

  if (!weights.has_ffn()) {
    block->output = *stream;
    return block;
  }
  block->ffn_input = before(&BlockTrace::ffn_input, *stream, weights.ffn_norm);
  const Matrix hidden = ffn_hidden(weights, run.model.config.activation,
                                   block->ffn_input.bottomRows(x.rows() - run.first), run.threads);
  if (run.progress.stop) return std::optional<BlockTrace>{};
  block->output = after(&BlockTrace::output, *stream, linear(hidden, weights.down, run.threads), weights.ffn_norm);
  return block;
}

}  // namespace headlight
