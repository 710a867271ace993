#include "explain/patch/patch_estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "explain/gradients.h"
#include "explain/patch/patch_pass.h"
#include "math/output.h"
#include "math/random_choice.h"

namespace headlight {
namespace {

/// The gradient of the metric by the logits, (V); zeros of a rank, which has none.
Vector metric_gradient(const PatchMetric& metric, const Vector& logits) {
  Vector of = Vector::Zero(logits.size());
  if (metric.metric == Metric::logit_difference) {
    of(metric.right) += 1, of(metric.wrong) -= 1;
  } else if (metric.metric == Metric::probability) {
    const Vector all = probabilities(logits);
    of = -all(metric.right) * all;
    of(metric.right) += all(metric.right);
  } else if (metric.metric == Metric::kl) {
    of = probabilities(logits);
    for (Index word = 0; word < of.size(); ++word)
      of(word) -= static_cast<float>(std::exp(metric.clean[static_cast<std::size_t>(word)]));
  }
  return of;
}

/// The gradient by the numbers of one part, all tokens: as part_of() has them.
Matrix part_gradient(const Gradients& gradients, const Trace& base, PatchAt at, const HeadRef& head) {
  if (at == PatchAt::residual) return gradients.block(head.stack, head.layer).output;
  if (at == PatchAt::ffn) return gradients.block(head.stack, head.layer).ffn;
  const AttentionGradients& of = gradients.attention(head.stack, head.layer);
  const AttentionTrace& attention = base.attention(head.stack, head.layer);
  const Index heads = attention.num_heads(), kv_heads = attention.num_kv_heads;
  if (of_keys(at)) return head_columns(at == PatchAt::k ? of.key : of.value, head.head, kv_heads);
  if (at == PatchAt::q) return head_columns(of.query, head.head, heads);
  const auto z = head_columns(of.z, head.head, heads);
  if (at == PatchAt::heads) return z;
  return z * head_columns(attention.value, attention.kv_head(head.head), kv_heads).transpose();
}

/// What each part restores by the gradient.
Result<std::vector<PatchCell>> estimated(const Patching& patching, const std::vector<CellPatch>& cells) {
  const Vector logits = logit_rows(patching.base, patching.query, 1, Threads(patching.threads)).row(0);
  const auto gradients = TRY(gradients_of(patching.base, patching.query, metric_gradient(patching.metric, logits),
                                          patching.progress, patching.threads));
  if (!gradients) return cancelled("patch");
  std::vector<PatchCell> estimates;
  Matrix gradient, there;
  std::optional<HeadRef> last;
  for (const auto& [cell, patch] : cells) {
    const HeadRef head{patch.layer, patch.head, patch.stack};
    if (last != head) {
      gradient = part_gradient(*gradients, patching.base, patch.at, head);
      there = gradient.size() > 0 ? part_of(patching.base, patch.at, head) : Matrix();
      last = head;
    }
    double change = 0;  // nothing where the part is off
    for (std::size_t i = 0; i < patch.rows.size() && gradient.size() > 0; ++i) {
      const Index row = patch.rows[i];
      const auto apart = (patch.values.row(static_cast<Index>(i)) - there.row(row)).cast<double>();
      change += gradient.row(row).cast<double>().dot(apart);
    }
    estimates.push_back(cell);
    estimates.back().restored = change / (patching.end - patching.begin);
  }
  return estimates;
}

}  // namespace

Result<PatchEstimate> estimate_patches(const Trace& clean, const Trace& corrupt, const PatchWanted& wanted, Index most,
                                       int threads, Progress* progress) {
  PatchEstimate estimate;
  Progress unwatched;
  auto patching = TRY(patching_of(clean, corrupt, wanted, threads, progress ? *progress : unwatched, estimate.patched));
  TRY(check_part(clean, corrupt, wanted));
  if (patching.metric.metric == Metric::rank)
    return bad_input("--estimate", "", "--metric logit-difference, probability or kl, which have gradients", "rank");
  const auto cells = TRY(cell_patches_of(patching, patching.wanted));
  const std::size_t largest = std::min(static_cast<std::size_t>(most), cells.size());
  const std::size_t others = std::min(largest, cells.size() - largest);
  const float share = patching.progress.share;
  patching.passes = largest + others + 1, patching.done = 1;
  patching.progress.share = share / static_cast<float>(patching.passes);
  estimate.all = TRY(estimated(patching, cells));
  patching.progress.share = share;
  std::vector<std::size_t> order(cells.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t at) { return std::abs(estimate.all[at].restored); });
  std::vector<std::size_t> rest(order.begin() + static_cast<std::ptrdiff_t>(largest), order.end());
  Random random(0);
  draw_to_front(random, rest, others);
  std::vector<bool> is_largest(cells.size(), false);
  for (std::size_t i = 0; i < largest; ++i) is_largest[order[i]] = true;
  order.resize(largest);
  order.insert(order.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(others));
  std::ranges::sort(order);
  std::vector<CellPatch> chosen;
  for (const std::size_t at : order) chosen.push_back(cells[at]), estimate.largest.push_back(is_largest[at]);
  estimate.at = order;
  if (!chosen.empty()) TRY(restore(patching, chosen, estimate.patched));
  return estimate;
}

}  // namespace headlight
