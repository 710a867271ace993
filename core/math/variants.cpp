#include "math/variants.h"

#include <algorithm>
#include <cassert>

#include "math/block.h"
#include "math/common_rows.h"
#include "math/ops.h"

namespace headlight {
namespace {

/// A head that is off as the mean of its z reads all rows.
bool reads_all_rows(const Edits& edits) { return !edits.off.empty() && edits.off_as == OffAs::mean; }

/// How many of the first rows every variant has in common with the answer, in all layers.
Index rows_in_common(const Trace& base, const std::vector<Patches>& variants, Index first) {
  for (const Patches& patches : variants)
    for (const Patch& patch : patches) {
      if (patch.stack == Stack::cross && of_keys(patch.at)) return 0;  // every row reads the encoder's tokens
      for (const Index row : patch.rows) first = std::min(first, row);
    }
  return rows_before(base, first);
}

/// The blocks of one stack from `layer` on, all variants side by side, and the final norm.
Result<std::optional<Matrix>> run_rest(const Trace& base, const StackWeights& weights, Stack stack, Index layer,
                                       const StackTrace* encoder, const std::vector<Patches>& variants, Index first,
                                       Progress& progress, float share, const Threads& threads) {
  auto run = TRY(stack_run(base.request, *base.model, weights, stack, encoder, progress, threads));
  run.share = share;
  run.variants = &variants;
  run.asked = reads_all_rows(base.request.edits) ? 0 : first;
  if (stack == Stack::self && !lowest_patch(variants, true)) {
    run.earlier = &base;
    run.first = rows_in_common(base, variants, run.asked);
  }
  // The blocks below have the same output for all of them.
  Matrix x = layer == 0 ? (stack == Stack::encoder ? base.encoder->embedding : base.embedding)
                        : base.blocks_of(stack)[static_cast<std::size_t>(layer - 1)].output;
  if (run.first > 0) x = last_rows(x, 1, run.first);
  for (; layer < static_cast<Index>(weights.blocks.size()); ++layer) {
    auto block = TRY(run_block(weights.blocks[static_cast<std::size_t>(layer)], stack, layer, x, run));
    if (!block) return std::optional<Matrix>{};
    x = std::move(block->output);
  }
  if (run.asked < first) x = last_rows(x, static_cast<Index>(variants.size()), first);
  if (weights.final_norm) x = norm(x, *weights.final_norm, Threads(threads.count));
  TRY(check_finite(stack_name(*base.model, stack) + "last hidden state", x, Threads(threads.count)));
  return std::optional(std::move(x));
}

}  // namespace

Result<std::optional<Matrix>> forward_variants(const Trace& base, const std::vector<Patches>& variants, Index first,
                                               Progress& progress, int threads) {
  assert(!variants.empty() && !base.model->given);
  const Model& model = *base.model;
  const Threads stoppable{threads, &progress.stop};
  const auto in_encoder = lowest_patch(variants, true), in_main = lowest_patch(variants, false);
  assert(in_encoder || in_main);
  const Index begin = in_encoder ? 0 : *in_main;
  const Index encoder_layers = in_encoder ? static_cast<Index>(model.encoder->blocks.size()) - *in_encoder : 0;
  const Index main_attentions = (static_cast<Index>(model.blocks.size()) - begin) * (model.encoder ? 2 : 1);
  const float share = progress.share / static_cast<float>(encoder_layers + main_attentions);
  StackTrace memory;  // of all variants
  if (in_encoder) {
    auto hidden =
        run_rest(base, *model.encoder, Stack::encoder, *in_encoder, nullptr, variants, 0, progress, share, stoppable);
    if (!hidden || !*hidden) return hidden;
    memory.normed = std::move(**hidden);
  }
  return run_rest(base, model, Stack::self, begin, in_encoder ? &memory : base.encoder.get(), variants, first, progress,
                  share, stoppable);
}

Index variants_at_once(const Trace& base, Index variants) {
  constexpr Index kMostRows = 1536;
  Index rows = base.queries();
  if (base.encoder) rows = std::max(rows, base.queries(Stack::encoder));
  return std::clamp<Index>(kMostRows / rows, 1, std::max<Index>(1, variants));
}

std::vector<Matrix> replacements(const Matrix& own, const Baseline& baseline,
                                 const std::function<Matrix(const Trace&)>& part_of) {
  const bool by_position = baseline.kind == BaselineKind::position;
  std::vector<Matrix> all;
  Eigen::ArrayXXd sum = Eigen::ArrayXXd::Zero(by_position ? own.rows() : 1, own.cols());
  Eigen::ArrayXd count = Eigen::ArrayXd::Zero(sum.rows());
  for (const auto& other : baseline.others) {
    const Matrix rows = part_of(*other);
    const Index both = std::min(rows.rows(), own.rows());
    if (baseline.kind == BaselineKind::resample) {
      all.push_back(own);
      all.back().topRows(both) = rows.topRows(both);
    } else if (by_position) {
      sum.topRows(both) += rows.topRows(both).cast<double>().array();
      count.head(both) += 1;
    } else {
      sum.row(0) += rows.cast<double>().colwise().sum().array();
      count(0) += static_cast<double>(rows.rows());
    }
  }
  if (baseline.kind == BaselineKind::resample) return all;
  Matrix mean = own;
  for (Index row = 0; row < own.rows(); ++row) {
    const Index of = by_position ? row : 0;
    if (count(of) > 0) mean.row(row) = (sum.row(of) / count(of)).cast<float>().matrix();
  }
  return {std::move(mean)};
}

Status check_baseline(const Baseline& baseline, const Trace& trace) {
  if (!baseline.given() || baseline.kind != BaselineKind::position) return Done{};
  for (const Stack stack : kStacks) {
    if (!trace.has(stack)) continue;
    Index longest = 0;
    for (const auto& other : baseline.others) longest = std::max(longest, other->queries(stack));
    if (longest < trace.queries(stack))
      return bad_input(
          "--baseline position", "",
          "a sentence of at least " + std::to_string(trace.queries(stack)) + " tokens, for each position one",
          "the longest with " + std::to_string(longest));
  }
  return Done{};
}

}  // namespace headlight
