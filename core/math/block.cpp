#include "math/block.h"

#include <cassert>
#include <cmath>
#include <string_view>

#include "math/attention.h"
#include "math/experts.h"
#include "math/ops.h"
#include "math/position.h"

namespace headlight {
namespace {

/// Below this many multiplications the heads of a layer are not worth a thread.
constexpr Index kWorthAThread = 1 << 15;

/// The heads of an attention whose query, key and value (or patterns) are there. False when stopped.
bool run_heads(Stack stack, Index layer, const Edits& edits, const Matrix& blocked, const StackRun& run,
               const AttentionTrace* earlier, AttentionTrace& attention) {
  const Index heads = attention.num_heads();
  const Index work = attention.mask->queries() * attention.mask->keys() * attention.query.cols();
  parallel_for(heads, work < kWorthAThread ? Threads{1, run.threads.stop} : run.threads, [&](Index head) {
    run_head({layer, head, stack}, edits, blocked, attention, run.progress.stop, earlier, run.first);
    run.progress.advance(run.share / static_cast<float>(heads));
  });
  return !run.progress.stop;
}

/// The first rows of an earlier answer, if any, followed by the new ones.
Matrix continued(const Matrix* earlier, Index first, Matrix rest) {
  if (!earlier || first == 0) return rest;
  Matrix all(first + rest.rows(), rest.cols());
  all.topRows(first) = earlier->topRows(first);
  all.bottomRows(rest.rows()) = rest;
  return all;
}

/// The block of an earlier answer; null where there is none.
const BlockTrace* earlier_block(const StackRun& run, Index layer) {
  return run.earlier ? &run.earlier->blocks[static_cast<std::size_t>(layer)] : nullptr;
}

/// The patch of this place; null where there is none.
const Patch* patch_of(const StackRun& run, PatchAt at, Stack stack, Index layer) {
  const Patch* patch = run.patch;
  return patch && patch->at == at && patch->stack == stack && patch->layer == layer ? patch : nullptr;
}

/// Patches the columns of its head in a matrix with `heads` heads side by side.
void patch_head(const StackRun& run, PatchAt at, Stack stack, Index layer, Index heads, Matrix& side_by_side) {
  const Patch* patch = patch_of(run, at, stack, layer);
  if (!patch) return;
  const Index width = side_by_side.cols() / heads;
  put(*patch, side_by_side.middleCols(patch->head * width, width));
}

/// Patches z by weights that stand in place of those of a head.
void patch_pattern(const StackRun& run, Stack stack, Index layer, AttentionTrace& attention) {
  const Patch* patch = patch_of(run, PatchAt::pattern, stack, layer);
  if (!patch) return;
  const auto values = head_columns(attention.value, attention.kv_head(patch->head), attention.num_kv_heads);
  Patch of_z = *patch;
  of_z.values = patch->values * values;
  put(of_z, attention.z.middleCols(patch->head * values.cols(), values.cols()));
}

Status check_projections(const std::string& where, const AttentionTrace& attention, const Threads& threads) {
  for (const auto& [name, matrix] :
       {std::pair{" queries", &attention.query}, {" keys", &attention.key}, {" values", &attention.value}})
    if (const auto finite = check_finite(where + name, *matrix, threads); !finite) return finite;
  return Done{};
}

/// In the scores an overflow shows in the sums of the rows: NaN, or 0 in a row that the mask did not empty.
Status check_scores(const std::string& where, const AttentionTrace& attention) {
  std::vector<bool> masked(static_cast<std::size_t>(attention.mask->queries()), false);  // the mask blocks every key
  for (std::size_t head = 0; head < attention.heads.size(); ++head) {
    const Vector& sums = attention.heads[head].row_sum;
    for (Index query = 0; query < sums.size(); ++query) {
      const auto row = static_cast<std::size_t>(query);
      if (sums(query) == 0.0f && !masked[row]) masked[row] = !may_attend(*attention.mask, query);
      if (std::isfinite(sums(query)) && (sums(query) != 0.0f || masked[row])) continue;
      return bad_input("attention", where + " head " + std::to_string(head) + " query " + std::to_string(query),
                       "finite scores", "an overflow", ErrorCode::overflow);
    }
  }
  return Done{};
}

/// The layer name in error messages.
std::string layer_name(const Model& model, Stack stack, Index layer) {
  return stack_name(model, stack) + "layer " + std::to_string(layer) + (stack == Stack::cross ? " cross" : "");
}

}  // namespace

std::string stack_name(const Model& model, Stack stack) {
  return stack == Stack::encoder ? "encoder " : model.encoder ? "decoder " : "";
}

Status check_finite(const std::string& where, const Matrix& matrix, const Threads& threads) {
  if (all_finite(matrix, threads)) return Done{};
  return bad_input("attention", where, "finite numbers", "an overflow", ErrorCode::overflow);
}

bool may_attend(const Mask& mask, Index query) {
  for (Index key = 0; key < mask.keys(); ++key)
    if (mask.allowed(query, key)) return true;
  return false;
}

std::string mask_name(Stack stack, std::optional<Index> own_layer) {
  const std::string name = stack == Stack::encoder ? "encoder mask" : stack == Stack::cross ? "cross mask" : "mask";
  return own_layer ? name + " of layer " + std::to_string(*own_layer) : name;
}

Result<ResolvedMask> resolve_mask(const Request& request, Stack stack, std::optional<Index> layer, Index own_window) {
  const LayerEdit* own = layer ? layer_edit(request.edits, stack, *layer) : nullptr;
  const bool has_own = own && own->mask;
  auto mask = resolve(has_own ? *own->mask : mask_spec(request, stack), query_tokens(request, stack),
                      key_tokens(request, stack), own_window);
  if (!mask) {
    Error error = mask.error();
    error.where = mask_name(stack, has_own ? layer : std::nullopt);
    return error;
  }
  const Region whole{.num_queries = mask->queries(), .num_keys = mask->keys()};
  Matrix blocked = blocked_cells(*mask, whole, kThumbnail);
  return ResolvedMask{std::make_shared<const Mask>(std::move(*mask)), std::move(blocked)};
}

Result<const ResolvedMask*> mask_of(const StackRun& run, Stack stack, Index layer, std::optional<ResolvedMask>& own) {
  const bool cross = stack == Stack::cross;
  const Index window = cross ? 0 : run.stack.blocks[static_cast<std::size_t>(layer)].self.window;
  const LayerEdit* edit = layer_edit(run.request.edits, stack, layer);
  if (edit && edit->mask) {
    auto resolved = resolve_mask(run.request, stack, layer, window);
    if (!resolved) return resolved.error();
    return &own.emplace(std::move(*resolved));
  }
  if (cross) return &run.cross_mask;
  const auto windowed = run.windows.find(window);
  return windowed == run.windows.end() ? &run.mask : &windowed->second;
}

Matrix project(const Linear& weights, const std::optional<NormWeights>& head_norm, const Rotary* rotary,
               const ConstMatrixRef& x, Index heads, const Threads& threads, Index first_position) {
  Matrix y = linear(x, weights, threads);
  if (head_norm) y = norm_heads(y, *head_norm, y.cols() / head_norm->scale.size(), threads);
  if (rotary) y = rotated(y, *rotary, heads, first_position);
  return y;
}

Result<std::optional<Matrix>> run_attention(const AttentionWeights& weights, Stack stack, Index layer,
                                            const ConstMatrixRef& query_input, const ConstMatrixRef& key_input,
                                            const ConstMatrixRef& value_input, const StackRun& run,
                                            AttentionTrace& attention) {
  const Rotary* rotary = rotary_of(run.stack, weights, stack);
  attention.num_kv_heads = weights.num_kv_heads;
  const BlockTrace* earlier_layer = earlier_block(run, layer);
  const AttentionTrace* earlier = !earlier_layer          ? nullptr
                                  : stack == Stack::cross ? &*earlier_layer->cross
                                                          : &earlier_layer->self;
  const auto with_earlier = [&](Matrix AttentionTrace::*field, Matrix rest) {
    return continued(earlier ? &(earlier->*field) : nullptr, run.first, std::move(rest));
  };
  attention.query = with_earlier(&AttentionTrace::query, project(weights.query, weights.query_norm, rotary, query_input,
                                                                 weights.num_heads, run.threads, run.first));
  if (earlier && stack == Stack::cross) {  // of the same encoder's output
    attention.key = earlier->key;
    attention.value = earlier->value;
  } else {
    attention.key = with_earlier(&AttentionTrace::key, project(weights.key, weights.key_norm, rotary, key_input,
                                                               weights.num_kv_heads, run.threads, run.first));
    attention.value = with_earlier(&AttentionTrace::value, linear(value_input, weights.value, run.threads));
  }
  if (run.progress.stop) return std::optional<Matrix>{};
  patch_head(run, PatchAt::q, stack, layer, weights.num_heads, attention.query);
  patch_head(run, PatchAt::k, stack, layer, weights.num_kv_heads, attention.key);
  patch_head(run, PatchAt::v, stack, layer, weights.num_kv_heads, attention.value);
  const Index d_k = attention.query.cols() / weights.num_heads, d_v = attention.value.cols() / weights.num_kv_heads;
  assert(attention.query.cols() == d_k * weights.num_heads && attention.key.cols() == d_k * weights.num_kv_heads);
  attention.z.resize(attention.query.rows(), d_v * weights.num_heads);
  attention.heads.resize(static_cast<std::size_t>(weights.num_heads));

  const Edits& edits = run.request.edits;
  const LayerEdit* own = layer_edit(edits, stack, layer);
  const auto scale = own && own->scale ? own->scale : edits.scale;
  attention.scale = scale.value_or(weights.scale.value_or(1.0f / std::sqrt(static_cast<float>(d_k))));
  attention.softcap = weights.softcap;
  attention.sinks = weights.sinks;
  attention.relative_bias = weights.relative_bias;
  attention.distances = weights.distances;
  std::optional<ResolvedMask> own_mask;
  const auto mask = mask_of(run, stack, layer, own_mask);
  if (!mask) return mask.error();
  attention.mask = (*mask)->mask;
  if (!run_heads(stack, layer, edits, (*mask)->blocked, run, earlier, attention)) return std::optional<Matrix>{};
  patch_head(run, PatchAt::heads, stack, layer, weights.num_heads, attention.z);
  patch_pattern(run, stack, layer, attention);
  const std::string where = layer_name(run.model, stack, layer);
  if (const auto finite = check_projections(where, attention, Threads(run.threads.count)); !finite)
    return finite.error();
  if (const auto finite = check_scores(where, attention); !finite) return finite.error();
  std::optional<Matrix> output = linear(attention.z.bottomRows(query_input.rows()), weights.output, run.threads);
  if (run.progress.stop) return std::optional<Matrix>{};
  if (!attention.keeps_z()) attention.z = {};
  if (const auto finite = check_finite(where + " attention output", *output, Threads(run.threads.count)); !finite)
    return finite.error();
  return output;
}

Result<bool> run_patterns(const std::vector<Matrix>& patterns, Stack stack, Index layer, const StackRun& run,
                          AttentionTrace& attention) {
  attention.patterns = &patterns;
  attention.heads.resize(patterns.size());
  attention.num_kv_heads = attention.num_heads();
  auto mask = resolve_mask(run.request, stack, layer);
  if (!mask) return mask.error();
  attention.mask = mask->mask;
  return run_heads(stack, layer, run.request.edits, mask->blocked, run, nullptr, attention);
}

Result<std::optional<BlockTrace>> run_block(const BlockWeights& weights, Stack stack, Index layer, const Matrix& x,
                                            const StackRun& run) {
  const PartsOff off = parts_off(run.request.edits, stack, layer);
  const bool pre = run.model.config.norm == Norm::pre || off.norm;
  // The rows from run.first on; those before are the same in the earlier answer.
  Matrix stream = x.bottomRows(x.rows() - run.first);
  const Threads unstoppable(run.threads.count);  // for operations that take less than a millisecond
  const auto normed = [&](const Matrix& one, const NormWeights& own) { return norm(one, own, unstoppable); };
  const auto read = [&](const NormWeights& own) {
    return pre && !off.norm && !own.is_identity() ? normed(stream, own) : stream;
  };
  const auto add = [&](const Matrix& sublayer, const std::optional<NormWeights>& after, const NormWeights& own,
                       bool residual) {
    const bool norms = after && !off.norm;
    if (!residual) stream = norms ? normed(sublayer, *after) : sublayer;
    else if (norms) stream += normed(sublayer, *after);
    else stream += sublayer;
    if (!pre) stream = norm(stream, own, unstoppable);
  };
  std::optional<BlockTrace> block(std::in_place);
  const Matrix beside = weights.parallel ? read(weights.ffn_norm) : Matrix{};
  {
    const Matrix input = read(weights.attention_norm);
    const auto output = run_attention(weights.self, stack, layer, input, input, input, run, block->self);
    if (!output) return output.error();
    if (!*output) return std::optional<BlockTrace>{};
    add(**output, weights.attention_after_norm, weights.attention_norm, !off.residual);
  }
  if (weights.cross) {
    const Matrix& memory = run.encoder->last_hidden_state();
    const auto output = run_attention(*weights.cross, Stack::cross, layer, read(weights.cross_norm), memory, memory,
                                      run, block->cross.emplace());
    if (!output) return output.error();
    if (!*output) return std::optional<BlockTrace>{};
    add(**output, std::nullopt, weights.cross_norm, !off.residual);
  }
  if (weights.has_ffn() && !off.ffn) {
    const Matrix input = weights.parallel ? beside : read(weights.ffn_norm);
    Matrix output = feed_forward(weights, run.model.config.activation, input, run.threads);
    if (run.progress.stop) return std::optional<BlockTrace>{};
    if (const Patch* patch = patch_of(run, PatchAt::ffn, stack, layer)) put(*patch, output);
    add(output, weights.ffn_after_norm, weights.ffn_norm, !off.residual || weights.parallel);
  }
  if (const Patch* patch = patch_of(run, PatchAt::residual, stack, layer)) put(*patch, stream);
  if (const auto finite = check_finite(layer_name(run.model, stack, layer) + " output", stream, unstoppable); !finite)
    return finite.error();
  const BlockTrace* earlier = earlier_block(run, layer);
  block->output = continued(earlier ? &earlier->output : nullptr, run.first, std::move(stream));
  return block;
}

}  // namespace headlight
