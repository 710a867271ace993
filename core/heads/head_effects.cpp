#include "heads/head_effects.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/parallel.h"
#include "base/result.h"
#include "heads/head_measures.h"
#include "math/attention.h"
#include "math/block.h"
#include "math/output.h"
#include "math/variants.h"
#include "model/head_text.h"

namespace headlight {
namespace {

/// The parts of the answer before the change that are compared.
struct Before {
  const Trace& trace;
  std::vector<Index> positions;            // empty: no output layer
  std::vector<std::vector<double>> words;  // log-probabilities, one list a position
  const EffectWanted& wanted;
  double metric = 0;
};

Before before_of(const Trace& trace, const EffectWanted& wanted) {
  Before before{.trace = trace, .positions = {}, .words = {}, .wanted = wanted};
  if (trace.logits.size() == 0) return before;
  before.positions = wanted.query ? std::vector<Index>{*wanted.query} : asked_positions(trace);
  for (const Index position : before.positions)
    before.words.push_back(log_probabilities(logit_rows(trace, position, 1)));
  if (wanted.metric && !before.positions.empty())
    before.metric = wanted.metric(logit_rows(trace, before.positions.front(), 1).row(0));
  return before;
}

/// `logits`: of the positions that are asked for, in their order.
void compare_words(const Before& before, const ConstMatrixRef& logits, HeadEffect& effect) {
  double change = 0, top = 0;
  for (std::size_t i = 0; i < before.positions.size(); ++i) {
    const std::vector<double>& was = before.words[i];
    const std::vector<double> is = log_probabilities(logits.row(static_cast<Index>(i)));
    change += divergence(was, is);
    const auto best = static_cast<std::size_t>(std::max_element(was.begin(), was.end()) - was.begin());
    top += std::exp(is[best]) - std::exp(was[best]);
  }
  const auto count = static_cast<double>(before.positions.size());
  effect.change = static_cast<float>(change / count);
  effect.top_word = static_cast<float>(top / count);
  if (before.wanted.metric) effect.metric = static_cast<float>(before.wanted.metric(logits.row(0)) - before.metric);
}

/// `hidden`: the last hidden states of all tokens.
float hidden_change(const Trace& before, const ConstMatrixRef& hidden) {
  const auto& tokens = before.query_tokens().tokens;
  double difference = 0, size = 0;
  for (Index query = 0; query < hidden.rows(); ++query) {
    if (tokens[static_cast<std::size_t>(query)].pad) continue;
    const auto was = before.last_hidden_state().row(query).cast<double>().eval();
    difference += (hidden.row(query).cast<double>() - was).squaredNorm();
    size += was.squaredNorm();
  }
  return size > 0 ? static_cast<float>(std::sqrt(difference / size)) : 0.0f;
}

/// The z of a head as it is when the head is off.
Patch patch_of_off(const Trace& trace, const HeadRef& head) {
  Matrix z = z_rows(trace, head, 0, trace.queries(head.stack));
  switch_off(trace.request.edits.off_as, z);
  return patch_of_rows(PatchAt::heads, head, std::move(z));
}

/// The patches by which the effect of a head is measured: one, or one for each other sentence.
std::vector<Patches> replacements_of(const Before& before, const HeadRef& head) {
  const Baseline& baseline = before.wanted.baseline;
  if (!baseline.given()) return {{patch_of_off(before.trace, head)}};
  const auto z_of = [&](const Trace& trace) { return z_rows(trace, head, 0, trace.queries(head.stack)); };
  std::vector<Patches> patches;
  for (Matrix& z : replacements(z_of(before.trace), baseline, z_of))
    patches.push_back({patch_of_rows(PatchAt::heads, head, std::move(z))});
  return patches;
}

/// The heads that are wanted, in order.
Result<std::vector<HeadRef>> heads_wanted(const Trace& trace, const EffectWanted& wanted) {
  std::vector<HeadRef> heads = heads_of(trace);
  Index layers = 0;
  for (const HeadRef& head : heads) layers = std::max(layers, head.layer + 1);
  for (const Index layer : wanted.layers) TRY(check_within("--at-layers", "", layer, layers));
  for (const LayerHeads& one : wanted.heads) {
    if (!trace.has(one.stack))
      return bad_input("--at-heads", "", "heads of a stack that this model has", stack_name(one.stack));
    TRY(check_within("--at-heads", "layer", one.layer, trace.num_layers(one.stack)));
    TRY(check_within("--at-heads", "head", one.head.value_or(0), trace.attention(one.stack, one.layer).num_heads()));
  }
  std::erase_if(heads, [&](const HeadRef& head) { return !is_chosen(head, wanted.layers, wanted.heads); });
  if (heads.empty()) return bad_input("--at-heads", "", "a head of the layers of --at-layers", "none");
  return heads;
}

/// The mean of what the replacements of one head did.
HeadEffect mean_of(std::span<const HeadEffect> draws) {
  HeadEffect mean = draws.front();
  if (draws.size() == 1) return mean;
  const auto count = static_cast<double>(draws.size());
  double change = 0, square = 0, top = 0, metric = 0;
  for (const HeadEffect& one : draws) {
    const double value = static_cast<double>(one.change);
    change += value / count, square += value * value / count;
    top += static_cast<double>(one.top_word.value_or(0)) / count;
    metric += static_cast<double>(one.metric.value_or(0)) / count;
  }
  mean.change = static_cast<float>(change);
  mean.spread = static_cast<float>(std::sqrt(std::max(0.0, square - change * change)));
  if (mean.top_word) mean.top_word = static_cast<float>(top);
  if (mean.metric) mean.metric = static_cast<float>(metric);
  return mean;
}

/// Compares a batch of passes with the answer before. Errors: an overflow with these heads off.
Status compare(const Before& before, const std::vector<Patches>& variants, Progress& progress, int threads,
               std::span<HeadEffect> effects) {
  const Trace& trace = before.trace;
  Index first = before.positions.empty() ? 0 : trace.queries();
  for (const Index position : before.positions) first = std::min(first, position);
  const auto hidden = TRY(forward_variants(trace, variants, first, progress, threads));
  if (!hidden) return Done{};  // stopped
  const Index rows = hidden->rows() / static_cast<Index>(variants.size());
  const auto count = static_cast<Index>(before.positions.size());
  Matrix logits;
  if (count > 0) {
    logits = logits_of_texts(*trace.model, *hidden, std::ssize(variants), before.positions, first, Threads(threads));
    if (const Status finite = check_finite("logits", logits, Threads(threads)); !finite) return finite;
  }
  parallel_for(static_cast<Index>(variants.size()), threads, [&](Index i) {
    HeadEffect& effect = effects[static_cast<std::size_t>(i)];
    if (count > 0) compare_words(before, logits.middleRows(i * count, count), effect);
    else effect.change = hidden_change(trace, hidden->middleRows(i * rows, rows));
  });
  return Done{};
}

/// The same for heads of one layer; where the batch overflows, the head that does it is named.
Status compare_heads(const Before& before, const std::vector<Patches>& variants, Progress& progress, int threads,
                     std::span<HeadEffect> effects) {
  const Status whole = compare(before, variants, progress, threads, effects);
  if (whole) return whole;
  progress.share = 0;
  for (std::size_t i = 0; i < variants.size(); ++i)
    if (const Status one = compare(before, {variants[i]}, progress, threads, effects.subspan(i, 1)); !one)
      return inside("head " + head_label(effects[i].head) + " off", one.error());
  return whole;
}

/// Of one attention from given queries, keys and values: what each head adds to its output.
Result<std::optional<std::vector<HeadEffect>>> effects_of_given(const Trace& trace, std::vector<HeadEffect> effects,
                                                                Progress& progress, int threads) {
  for (HeadEffect& effect : effects) {
    Request request = trace.request;
    switch_off(request.edits, effect.head, true);
    const auto after = forward(request, progress, &trace, threads);
    if (!after) return inside("head " + head_label(effect.head) + " off", after.error());
    if (!*after) return std::optional<std::vector<HeadEffect>>{};
    effect.change = hidden_change(trace, (*after)->last_hidden_state());
  }
  return std::optional(std::move(effects));
}

}  // namespace

std::vector<Index> asked_positions(const Trace& trace) {
  std::vector<Index> positions;
  const auto& tokens = trace.query_tokens().tokens;
  if (trace.request.config.arch != Arch::encoder || classifies(*trace.model)) return {trace.answering};
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (is_masked(tokens[i])) positions.push_back(static_cast<Index>(i));
  return positions;
}

Result<std::optional<std::vector<HeadEffect>>> head_effects(const Trace& trace, Progress& progress, int threads,
                                                            const EffectWanted& wanted) {
  const std::vector<HeadRef> heads = TRY(heads_wanted(trace, wanted));
  TRY(check_baseline(wanted.baseline, trace));
  if (trace.attention(heads.front().stack, 0).patterns)
    return bad_input("effect", "", "a model, in which heads can be switched off", "attention alone",
                     ErrorCode::attention_alone);
  if (wanted.query) TRY(check_answers("--query", *wanted.query, trace));
  const float begin = progress.begin, share = progress.share;
  const Before before = before_of(trace, wanted);
  std::vector<HeadEffect> effects;
  for (const HeadRef& head : heads) effects.push_back({.head = head});
  if (trace.model->given) return effects_of_given(trace, std::move(effects), progress, threads);
  if (!before.positions.empty())
    for (HeadEffect& effect : effects) {
      effect.top_word = 0.0f;
      if (wanted.metric) effect.metric = 0.0f;
    }
  progress.done = begin;
  const auto most = static_cast<std::size_t>(variants_at_once(trace, static_cast<Index>(heads.size())));
  const auto is_first = [&](std::size_t at, std::size_t first) {
    return heads[at].layer != heads[first].layer || heads[at].stack != heads[first].stack;
  };
  for (std::size_t first = 0, end = 0; first < heads.size(); first = end) {
    std::vector<Patches> variants;
    std::vector<HeadEffect> draws;
    std::vector<std::size_t> ends;  // of the draws of each head
    for (end = first; end < heads.size() && variants.size() < most && !is_first(end, first); ++end) {
      // A head that is off already changes nothing.
      if (!is_off(trace.request.edits, heads[end]))
        for (Patches& patches : replacements_of(before, heads[end])) {
          variants.push_back(std::move(patches));
          draws.push_back(effects[end]);
        }
      ends.push_back(variants.size());
    }
    progress.share = share * static_cast<float>(end - first) / static_cast<float>(heads.size());
    const Status compared =
        variants.empty() ? Status(Done{}) : compare_heads(before, variants, progress, threads, draws);
    progress.share = share;
    if (!compared) return compared.error();
    if (progress.stop) return std::optional<std::vector<HeadEffect>>{};
    for (std::size_t i = 0, from = 0; i < ends.size(); from = ends[i++])
      if (ends[i] > from) effects[first + i] = mean_of(std::span(draws).subspan(from, ends[i] - from));
    progress.done = begin + share * static_cast<float>(end) / static_cast<float>(heads.size());
  }
  return std::optional(std::move(effects));
}

}  // namespace headlight
