#include "math/block.h"

#include <cassert>

#include "base/parallel.h"
#include "math/attention.h"
#include "math/ops.h"

namespace headlight {
namespace {

/// Below this many multiplications a head is not worth a thread.
constexpr Index kWorthAThread = 1 << 20;

}  // namespace

bool run_attention(const AttentionWeights& weights, const Trace& trace, const ConstMatrixRef& query_input,
                   const ConstMatrixRef& key_input, const ConstMatrixRef& value_input, const Matrix& blocked,
                   int threads, AttentionTrace& attention, Progress& progress, float share) {
  const Index heads = trace.num_heads();
  attention.query = linear(query_input, weights.query);
  attention.key = linear(key_input, weights.key);
  attention.value = linear(value_input, weights.value);
  assert(attention.query.cols() == attention.key.cols());
  assert(attention.query.cols() % heads == 0 && attention.value.cols() % heads == 0);
  attention.z.resize(attention.query.rows(), attention.value.cols());
  attention.heads.resize(static_cast<std::size_t>(heads));
  const Index work = trace.queries() * trace.keys() * attention.query.cols() / heads;
  parallel_for(heads, work < kWorthAThread ? 1 : threads, [&](Index head) {
    if (progress.stop) return;
    run_head(trace.mask, trace.scale, head, heads, blocked, attention, progress.stop);
    progress.done.fetch_add(share / static_cast<float>(heads));
  });
  if (progress.stop) return false;
  attention.output = linear(attention.z, weights.output);
  return true;
}

bool run_block(const BlockWeights& weights, const Trace& trace, const Matrix& x, const Matrix& blocked, int threads,
               BlockTrace& block, Progress& progress, float share) {
  const Config& config = trace.model->config;
  const bool pre = config.norm == Norm::pre;
  block.attention_input = pre ? layer_norm(x, weights.attention_norm) : x;
  const Matrix& input = block.attention_input;
  if (!run_attention(weights.self, trace, input, input, input, blocked, threads, block.self, progress, share))
    return false;
  const Matrix sum = x + block.self.output;
  block.after_attention = pre ? sum : layer_norm(sum, weights.attention_norm);
  if (weights.up.weight.size() == 0) {
    block.output = block.after_attention;
    return true;
  }
  Matrix hidden = linear(pre ? layer_norm(block.after_attention, weights.ffn_norm) : block.after_attention, weights.up);
  if (config.activation == Activation::relu) relu(hidden);
  else gelu(hidden);
  if (progress.stop) return false;
  const Matrix result = block.after_attention + linear(hidden, weights.down);
  block.output = pre ? result : layer_norm(result, weights.ffn_norm);
  return true;
}

}  // namespace headlight
