#include "math/block.h"

#include <cassert>
#include <cmath>
#include <span>

#include "math/attention.h"
#include "math/common_rows.h"
#include "math/experts.h"
#include "math/ops.h"
#include "math/position.h"

namespace headlight {
namespace {

/// Below this many multiplications the heads of a layer are not worth a thread.
constexpr Index kWorthAThread = 1 << 15;

/// The attentions of a layer, one for each text of a batch.
using Attentions = std::span<AttentionTrace>;

/// The heads of attentions whose query, key and value (or patterns) are there; `first`: the row that is the first to be
/// computed. False when stopped.
bool run_heads(Stack stack, Index layer, const Edits& edits, const ResolvedMask& mask, const StackRun& run,
               const AttentionTrace* earlier, Index first, Attentions attentions) {
  const AttentionTrace& one = attentions.front();
  const Index heads = one.num_heads(), all = heads * static_cast<Index>(attentions.size());
  const Index work = one.mask->queries() * one.mask->keys() * one.query.cols() * static_cast<Index>(attentions.size());
  parallel_for(all, work < kWorthAThread ? Threads{1, run.threads.stop} : run.threads, [&](Index at) {
    run_head({layer, at % heads, stack}, edits, mask.blocked_of(at % heads),
             attentions[static_cast<std::size_t>(at / heads)], run.progress.stop, earlier, first);
    run.progress.advance(run.share / static_cast<float>(all));
  });
  return !run.progress.stop;
}

/// A row of a batch for each text: x as it is, or, where it has those of one text that all have in common, repeated.
void repeat_rows(Matrix& x, Index rows) {
  if (x.rows() > 0 && x.rows() != rows) x = Matrix(x.replicate(rows / x.rows(), 1));
}

/// The first rows of an earlier answer, if any, followed by the new ones.
Matrix continued(const Matrix* earlier, Index first, Matrix rest) {
  if (!earlier || first == 0) return rest;
  Matrix all(first + rest.rows(), rest.cols());
  all.topRows(first) = earlier->topRows(first);
  all.bottomRows(rest.rows()) = rest;
  return all;
}

/// The attention of each text, from one whose queries, keys and values lie one text below the other, or are those that
/// all have in common. Of each text the first `skipped` queries are missing there and stay zeros; where there is an
/// `earlier` attention, its first `common` keys and values are those of each text.
std::vector<AttentionTrace> attentions_of_texts(AttentionTrace& batch, Index texts, Index skipped,
                                                const AttentionTrace* earlier, Index common) {
  const Index queries = batch.mask->queries(), keys = batch.mask->keys() - common, kept = queries - skipped;
  const Matrix query = std::move(batch.query), key = std::move(batch.key), value = std::move(batch.value);
  const auto rows_of = [](const Matrix& all, Index text, Index rows) {
    return all.middleRows(all.rows() == rows ? 0 : text * rows, rows);
  };
  std::vector<AttentionTrace> parts(static_cast<std::size_t>(texts), batch);
  for (Index text = 0; text < texts; ++text) {
    AttentionTrace& part = parts[static_cast<std::size_t>(text)];
    part.query.setZero(queries, query.cols());
    part.query.bottomRows(kept) = rows_of(query, text, kept);
    part.key = continued(earlier ? &earlier->key : nullptr, common, rows_of(key, text, keys));
    part.value = continued(earlier ? &earlier->value : nullptr, common, rows_of(value, text, keys));
  }
  return parts;
}

/// The block of an earlier answer; null where there is none.
const BlockTrace* earlier_block(const StackRun& run, Index layer) {
  return run.earlier ? &run.earlier->blocks[static_cast<std::size_t>(layer)] : nullptr;
}

/// Calls visit(patch) for the patches of a text that replace this activation.
template <class Visit>
void for_patches(const StackRun& run, Index text, PatchAt at, Stack stack, Index layer, const Visit& visit) {
  if (!run.variants) return;
  for (const Patch& patch : (*run.variants)[static_cast<std::size_t>(text)])
    if (patch.at == at && patch.stack == stack && patch.layer == layer) visit(patch);
}

/// Patches the columns of heads in a matrix with `heads` heads side by side.
void patch_heads(const StackRun& run, Index text, PatchAt at, Stack stack, Index layer, Index heads,
                 Matrix& side_by_side) {
  const Index width = side_by_side.cols() / heads;
  for_patches(run, text, at, stack, layer,
              [&](const Patch& patch) { put(patch, side_by_side.middleCols(patch.head * width, width)); });
}

/// Patches z by weights that replace those of a head.
void patch_patterns(const StackRun& run, Index text, Stack stack, Index layer, AttentionTrace& attention) {
  for_patches(run, text, PatchAt::pattern, stack, layer, [&](const Patch& patch) {
    const auto values = head_columns(attention.value, attention.kv_head(patch.head), attention.num_kv_heads);
    Patch of_z = patch;
    of_z.values = patch.values * values;
    put(of_z, attention.z.middleCols(patch.head * values.cols(), values.cols()));
  });
}

/// Patches this activation of a batch; the first `skipped` rows of each text are missing.
void patch_stream(const StackRun& run, PatchAt at, Stack stack, Index layer, Index skipped, Matrix& batch) {
  const Index rows = batch.rows() / run.texts();
  for (Index text = 0; text < run.texts(); ++text)
    for_patches(run, text, at, stack, layer,
                [&](const Patch& patch) { put(patch, batch.middleRows(text * rows, rows), skipped); });
}

Status check_projections(const std::string& where, const AttentionTrace& attention, const Threads& threads) {
  for (const auto& [name, matrix] :
       {std::pair{" queries", &attention.query}, {" keys", &attention.key}, {" values", &attention.value}})
    TRY(check_finite(where + name, *matrix, threads));
  return Done{};
}

/// In the scores an overflow shows in the sums of the rows: NaN, or 0 in a row that the mask did not empty. Rows before
/// `first` were not computed.
Status check_scores(const std::string& where, const AttentionTrace& attention, Index first) {
  std::vector<bool> masked(static_cast<std::size_t>(attention.mask->queries()), false);  // the mask blocks every key
  for (std::size_t head = 0; head < attention.heads.size(); ++head) {
    const Mask& mask = attention.mask_of(static_cast<Index>(head));
    if (attention.mask->heads() > 0) masked.assign(masked.size(), false);
    const Vector& sums = attention.heads[head].row_sum;
    for (Index query = first; query < sums.size(); ++query) {
      const auto row = static_cast<std::size_t>(query);
      if (sums(query) == 0.0f && !masked[row]) masked[row] = !may_attend(mask, query);
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

/// The heads of all texts with their patches, from the projections in `attention`: there z stays that of the one text,
/// or it is given back, the rows of all texts one below the other. Incomplete when stopped.
Result<Matrix> z_of_texts(const AttentionWeights& weights, Stack stack, Index layer, const StackRun& run,
                          const ResolvedMask& mask, const AttentionTrace* earlier, Index skipped,
                          AttentionTrace& attention) {
  const Index texts = run.texts(), first = run.first + skipped, kept = attention.mask->queries() - first;
  const Index width = attention.value.cols() / weights.num_kv_heads * weights.num_heads;
  std::vector<AttentionTrace> split;
  if (run.variants && (texts > 1 || first > 0))
    split = attentions_of_texts(attention, texts, first, earlier, stack == Stack::cross ? 0 : run.first);
  const Attentions parts = split.empty() ? Attentions(&attention, 1) : Attentions(split);
  for (Index text = 0; text < texts; ++text) {
    AttentionTrace& part = parts[static_cast<std::size_t>(text)];
    patch_heads(run, text, PatchAt::q, stack, layer, weights.num_heads, part.query);
    patch_heads(run, text, PatchAt::k, stack, layer, weights.num_kv_heads, part.key);
    patch_heads(run, text, PatchAt::v, stack, layer, weights.num_kv_heads, part.value);
    part.z.setZero(part.query.rows(), width);
  }
  Matrix z(split.empty() ? 0 : texts * kept, width);
  const AttentionTrace* shown = split.empty() ? earlier : nullptr;  // rows of a batch are not shown
  if (!run_heads(stack, layer, run.request.edits, mask, run, shown, first, parts)) return z;
  const std::string where = layer_name(run.model, stack, layer);
  for (Index text = 0; text < texts; ++text) {
    AttentionTrace& part = parts[static_cast<std::size_t>(text)];
    patch_heads(run, text, PatchAt::heads, stack, layer, weights.num_heads, part.z);
    patch_patterns(run, text, stack, layer, part);
    TRY(check_projections(where, part, Threads(run.threads.count)));
    TRY(check_scores(where, part, split.empty() ? 0 : first));
    if (!split.empty()) z.middleRows(text * kept, kept) = part.z.bottomRows(kept);
  }
  return z;
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
  std::vector<Matrix> blocked;
  for (Index head = 0; head < std::max<Index>(1, mask->heads()); ++head)
    blocked.push_back(blocked_cells(
        *mask, {.head = {.head = head}, .num_queries = mask->queries(), .num_keys = mask->keys()}, kThumbnail));
  return ResolvedMask{std::make_shared<const Mask>(std::move(*mask)), std::move(blocked)};
}

Result<const ResolvedMask*> mask_of(const StackRun& run, Stack stack, Index layer, std::optional<ResolvedMask>& own) {
  const bool cross = stack == Stack::cross;
  const Index window = cross ? 0 : run.stack.blocks[static_cast<std::size_t>(layer)].self.window;
  const LayerEdit* edit = layer_edit(run.request.edits, stack, layer);
  if (edit && edit->mask) {
    auto resolved = TRY(resolve_mask(run.request, stack, layer, window));
    return &own.emplace(std::move(resolved));
  }
  if (cross) return &run.cross_mask;
  const auto windowed = run.windows.find(window);
  return windowed == run.windows.end() ? &run.mask : &windowed->second;
}

Result<StackRun> stack_run(const Request& request, const Model& model, const StackWeights& weights, Stack stack,
                           const StackTrace* encoder, Progress& progress, const Threads& threads) {
  StackRun run{.request = request,
               .model = model,
               .stack = weights,
               .encoder = encoder,
               .mask = {},
               .cross_mask = {},
               .windows = {},
               .progress = progress,
               .threads = threads};
  run.mask = TRY(resolve_mask(request, stack));
  for (const BlockWeights& block : weights.blocks) {
    const Index window = block.self.window;
    if (window == 0 || run.windows.contains(window)) continue;
    auto windowed = TRY(resolve_mask(request, stack, {}, window));
    run.windows.emplace(window, std::move(windowed));
  }
  if (!encoder) return run;
  run.cross_mask = TRY(resolve_mask(request, Stack::cross));
  return run;
}

Matrix project(const Linear& weights, const std::optional<NormWeights>& head_norm, const Rotary* rotary,
               const ConstMatrixRef& x, Index heads, const Threads& threads, Index first_position, Index texts) {
  Matrix y = linear(x, weights, threads);
  if (head_norm) y = norm_heads(y, *head_norm, y.cols() / head_norm->scale.size(), threads);
  if (!rotary) return y;
  const Index rows = y.rows() / texts;
  for (Index text = 0; text < texts; ++text)
    y.middleRows(text * rows, rows) = rotated(y.middleRows(text * rows, rows), *rotary, heads, first_position);
  return y;
}

Result<std::optional<Matrix>> run_attention(const AttentionWeights& weights, Stack stack, Index layer,
                                            const ConstMatrixRef& query_input, const ConstMatrixRef& key_input,
                                            const ConstMatrixRef& value_input, const StackRun& run,
                                            AttentionTrace& attention, Index skipped) {
  const Rotary* rotary = rotary_of(run.stack, weights, stack);
  attention.num_kv_heads = weights.num_kv_heads;
  const BlockTrace* earlier_layer = earlier_block(run, layer);
  const AttentionTrace* earlier = !earlier_layer          ? nullptr
                                  : stack == Stack::cross ? &*earlier_layer->cross
                                                          : &earlier_layer->self;
  const auto with_earlier = [&](Matrix AttentionTrace::*field, Matrix rest) {
    return continued(earlier && !run.variants ? &(earlier->*field) : nullptr, run.first, std::move(rest));
  };
  std::optional<ResolvedMask> own_mask;
  const auto mask = TRY(mask_of(run, stack, layer, own_mask));
  attention.mask = mask->mask;
  const Index kept = attention.mask->queries() - run.first - skipped;
  const auto texts_in = [](const ConstMatrixRef& rows, Index of_one) { return rows.rows() / of_one; };
  attention.query = with_earlier(&AttentionTrace::query,
                                 project(weights.query, weights.query_norm, rotary, query_input, weights.num_heads,
                                         run.threads, run.first + skipped, texts_in(query_input, kept)));
  if (earlier && stack == Stack::cross) {  // of the same encoder's output
    attention.key = earlier->key;
    attention.value = earlier->value;
  } else {
    attention.key = with_earlier(
        &AttentionTrace::key,
        project(
            weights.key, weights.key_norm, rotary, key_input, weights.num_kv_heads, run.threads, run.first,
            texts_in(key_input, stack == Stack::cross ? attention.mask->keys() : attention.mask->keys() - run.first)));
    attention.value = with_earlier(&AttentionTrace::value, linear(value_input, weights.value, run.threads));
  }
  if (run.progress.stop) return std::optional<Matrix>{};
  const Index d_k = attention.query.cols() / weights.num_heads;
  assert(attention.query.cols() == d_k * weights.num_heads && attention.key.cols() == d_k * weights.num_kv_heads);
  attention.heads.resize(static_cast<std::size_t>(weights.num_heads));

  const Edits& edits = run.request.edits;
  const LayerEdit* own = layer_edit(edits, stack, layer);
  TRY(check_heads(mask_name(stack, own && own->mask ? std::optional(layer) : std::nullopt), *attention.mask,
                  weights.num_heads));
  const auto scale = own && own->scale ? own->scale : edits.scale;
  attention.scale = scale.value_or(weights.scale.value_or(1.0f / std::sqrt(static_cast<float>(d_k))));
  attention.softcap = weights.softcap;
  attention.sinks = weights.sinks;
  attention.relative_bias = weights.relative_bias;
  attention.distances = weights.distances;
  const auto z = TRY(z_of_texts(weights, stack, layer, run, *mask, earlier, skipped, attention));
  if (run.progress.stop) return std::optional<Matrix>{};
  const std::string where = layer_name(run.model, stack, layer);
  std::optional<Matrix> output = attention.z.size() > 0
                                     ? linear(attention.z.bottomRows(kept), weights.output, run.threads)
                                     : linear(z, weights.output, run.threads);
  if (run.progress.stop) return std::optional<Matrix>{};
  if (!attention.keeps_z()) attention.z = {};
  TRY(check_finite(where + " attention output", *output, Threads(run.threads.count)));
  return output;
}

Result<bool> run_patterns(const std::vector<Matrix>& patterns, Stack stack, Index layer, const StackRun& run,
                          AttentionTrace& attention) {
  attention.patterns = &patterns;
  // A sum is not finite where a number is none; it may be of large numbers too.
  attention.has_gaps = std::any_of(patterns.begin(), patterns.end(),
                                   [](const Matrix& one) { return !std::isfinite(one.sum()) && one.hasNaN(); });
  attention.heads.resize(patterns.size());
  attention.num_kv_heads = attention.num_heads();
  const auto mask = TRY(resolve_mask(run.request, stack, layer));
  const LayerEdit* own = layer_edit(run.request.edits, stack, layer);
  TRY(check_heads(mask_name(stack, own && own->mask ? std::optional(layer) : std::nullopt), *mask.mask,
                  attention.num_heads()));
  attention.mask = mask.mask;
  return run_heads(stack, layer, run.request.edits, mask, run, nullptr, run.first, {&attention, 1});
}

Result<std::optional<BlockTrace>> run_block(const BlockWeights& weights, Stack stack, Index layer, const Matrix& x,
                                            const StackRun& run) {
  const PartsOff off = parts_off(run.request.edits, stack, layer);
  const bool pre = run.model.config.norm == Norm::pre || off.norm;
  const bool last = layer + 1 == static_cast<Index>(run.stack.blocks.size());
  const Index skipped = last ? std::max<Index>(0, run.asked - run.first) : 0;
  // The rows from run.first on; those before are the same in the earlier answer.
  Matrix stream = run.variants ? x : x.bottomRows(x.rows() - run.first);
  const Threads unstoppable(run.threads.count);  // for operations that take less than a millisecond
  const auto normed = [&](const Matrix& one, const NormWeights& own) { return norm(one, own, unstoppable); };
  const auto read = [&](const NormWeights& own) {
    return pre && !off.norm && !own.is_identity() ? normed(stream, own) : stream;
  };
  const auto add = [&](const Matrix& sublayer, const std::optional<NormWeights>& after, const NormWeights& own,
                       bool residual) {
    const bool norms = after && !off.norm;
    repeat_rows(stream, sublayer.rows());
    if (!residual) stream = norms ? normed(sublayer, *after) : sublayer;
    else if (norms) stream += normed(sublayer, *after);
    else stream += sublayer;
    if (!pre) stream = norm(stream, own, unstoppable);
  };
  std::optional<BlockTrace> block(std::in_place);
  Matrix beside;
  {
    const Matrix input = read(weights.attention_norm);
    Matrix queries;  // where not all of them are computed
    if (skipped > 0)
      for (const auto& [all, rest] : {std::pair{&input, &queries}, {&std::as_const(stream), &stream}})
        *rest = last_rows(*all, x.rows() / (static_cast<Index>(query_tokens(run.request, stack).size()) - run.first),
                          skipped);
    if (weights.parallel) beside = read(weights.ffn_norm);
    const auto output = TRY(run_attention(weights.self, stack, layer, skipped > 0 ? queries : input, input, input, run,
                                          block->self, skipped));
    if (!output) return std::optional<BlockTrace>{};
    add(*output, weights.attention_after_norm, weights.attention_norm, !off.residual);
  }
  if (weights.cross) {
    const Matrix& memory = run.encoder->last_hidden_state();
    const auto output = TRY(run_attention(*weights.cross, Stack::cross, layer, read(weights.cross_norm), memory, memory,
                                          run, block->cross.emplace(), skipped));
    if (!output) return std::optional<BlockTrace>{};
    add(*output, std::nullopt, weights.cross_norm, !off.residual);
  }
  if (weights.has_ffn() && !off.ffn) {
    if (weights.parallel) repeat_rows(beside, stream.rows());
    const Matrix input = weights.parallel ? beside : read(weights.ffn_norm);
    Matrix output = feed_forward(weights, run.model.config.activation, input, run.threads);
    if (run.progress.stop) return std::optional<BlockTrace>{};
    patch_stream(run, PatchAt::ffn, stack, layer, run.first + skipped, output);
    add(output, weights.ffn_after_norm, weights.ffn_norm, !off.residual || weights.parallel);
  }
  patch_stream(run, PatchAt::residual, stack, layer, run.first + skipped, stream);
  TRY(check_finite(layer_name(run.model, stack, layer) + " output", stream, unstoppable));
  const BlockTrace* earlier = run.variants ? nullptr : earlier_block(run, layer);
  block->output = continued(earlier ? &earlier->output : nullptr, run.first, std::move(stream));
  return block;
}

}  // namespace headlight
