#include "explain/patch/patch_pass.h"

#include "base/result.h"
#include "math/block.h"
#include "math/output.h"
#include "math/variants.h"

namespace headlight {
namespace {

Status check_shapes(const Trace& clean, const Trace& corrupt) {
  for (const Trace* trace : {&clean, &corrupt})
    if (const auto valid = check_has_logits(*trace, trace == &clean ? "patch" : "--from"); !valid) return valid;
  const auto shape_of = [](const Trace& trace) {
    std::vector<Index> sizes{static_cast<Index>(trace.request.config.arch), trace.logits.size(),
                             trace.embedding.cols()};
    for (const Stack stack : kStacks) {
      if (!trace.has(stack)) continue;
      const AttentionTrace& first = trace.attention(stack, 0);
      for (const Index size :
           {trace.num_layers(stack), first.num_heads(), first.num_kv_heads, first.query.cols(), first.value.cols()})
        sizes.push_back(size);
    }
    return sizes;
  };
  if (shape_of(clean) == shape_of(corrupt)) return Done{};
  return bad_input("--from", "model", "the shape of the SOURCE's", "another");
}

/// The token of the corrupt sentence that corresponds to one of the clean sentence.
Result<Index> partner_of(const PatchWanted& wanted, Index query) {
  for (const auto& [clean, corrupt] : wanted.queries)
    if (clean == query) return corrupt;
  return bad_input("--query", "", "a token that both sentences have", std::to_string(query));
}

/// The same with pairs of the source's and the base's tokens.
PatchWanted in_direction(PatchWanted wanted, const Trace& base) {
  const bool noise = wanted.direction == PatchDirection::noise;
  for (TokenPairs* pairs : {&wanted.queries, &wanted.keys}) {
    if (noise)
      for (auto& pair : *pairs) std::swap(pair.first, pair.second);
    if (!wanted.baseline.given()) continue;
    pairs->clear();  // of a baseline each token stands for itself
    const Index tokens = pairs == &wanted.keys ? base.keys(wanted.stack) : base.queries(wanted.stack);
    for (Index token = 0; token < tokens; ++token) pairs->emplace_back(token, token);
  }
  return wanted;
}

}  // namespace

Result<Patching> patching_of(const Trace& clean, const Trace& corrupt, const PatchWanted& wanted, int threads,
                             Progress& progress, PatchAnswer& answer) {
  TRY(check_shapes(clean, corrupt));
  if (!clean.has(wanted.stack))
    return bad_input("--stack", "", "self, the only attention of this model", stack_name(wanted.stack));
  std::optional<Index> of_corrupt;
  if (const auto query = wanted.metric.query) {
    TRY(check_answers("--query", *query, clean));
    of_corrupt = TRY(wanted.stack == Stack::self ? partner_of(wanted, *query) : *query);
    TRY(check_within("--query", "", *of_corrupt, corrupt.queries()));
  }
  auto metric = TRY(metric_of(clean, corrupt, wanted.metric, of_corrupt));
  answer.metric = metric_text(*clean.model, metric);
  answer.measure = metric.metric;
  answer.right = candidate(*clean.model, metric.right).text;
  answer.wrong = candidate(*clean.model, metric.wrong).text;
  answer.clean = metric.of(clean, metric.clean_query);
  answer.corrupt = metric.of(corrupt, metric.corrupt_query);
  if (answer.clean == answer.corrupt)
    return bad_input("patch", "", "a question with another answer", "the same " + answer.metric);
  const bool noise = wanted.direction == PatchDirection::noise;
  if (wanted.baseline.given() && (!noise || wanted.at == PatchAt::pattern))
    return bad_input("--baseline", "", "--direction noise, and a part of every sentence",
                     noise ? "pattern" : "denoise");
  TRY(check_baseline(wanted.baseline, noise ? clean : corrupt));
  const Index query = noise ? metric.clean_query : metric.corrupt_query;
  const double from_clean = on_scale(metric.metric, answer.clean);
  const double from_corrupt = on_scale(metric.metric, answer.corrupt);
  return Patching{noise ? clean : corrupt,
                  noise ? corrupt : clean,
                  in_direction(wanted, noise ? clean : corrupt),
                  std::move(metric),
                  noise ? from_clean : from_corrupt,
                  noise ? from_corrupt : from_clean,
                  query,
                  threads,
                  progress};
}

Patch patch_of_pairs(PatchAt at, const HeadRef& head, const Matrix& values, const TokenPairs& pairs) {
  Patch patch{.at = at, .stack = head.stack, .layer = head.layer, .head = head.head};
  patch.values.resize(static_cast<Index>(pairs.size()), values.cols());
  for (const auto& [from, to] : pairs) {
    patch.values.row(static_cast<Index>(patch.rows.size())) = values.row(from);
    patch.rows.push_back(to);
  }
  return patch;
}

Result<std::vector<double>> restored_by(Patching& patching, const std::vector<Patches>& variants) {
  Progress& progress = patching.progress;
  const float share = progress.share, of_a_pass = share / static_cast<float>(patching.passes);
  progress.share = of_a_pass * static_cast<float>(variants.size());
  const auto hidden = forward_variants(patching.base, variants, patching.query, progress, patching.threads);
  progress.share = share;
  if (!hidden) return hidden.error();
  if (progress.stop) return cancelled("patch");
  patching.done += variants.size();
  progress.done = progress.begin + of_a_pass * static_cast<float>(patching.done);
  const Threads threads(patching.threads);
  const Matrix logits =
      logits_of_texts(*patching.base.model, **hidden, std::ssize(variants), {patching.query}, patching.query, threads);
  TRY(check_finite("logits", logits, threads));
  std::vector<double> restored(variants.size());
  parallel_for(logits.rows(), threads, [&](Index i) {
    restored[static_cast<std::size_t>(i)] = patching.restored(patching.metric.of(logits.row(i)));
  });
  return restored;
}

}  // namespace headlight
