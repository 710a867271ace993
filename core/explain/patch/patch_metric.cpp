#include "explain/patch/patch_metric.h"

#include <cmath>

#include "math/output.h"

namespace headlight {
namespace {

Index likeliest(const Trace& trace, const Vector& logits) {
  return most_probable(*trace.model, probabilities(logits), 1).front().row;
}

Vector logits_at(const Trace& trace, Index query) {
  return query == trace.answering ? trace.logits : Vector(logit_rows(trace, query, 1).row(0));
}

}  // namespace

double on_scale(Metric metric, double value) { return metric == Metric::rank ? std::log2(value) : value; }

double PatchMetric::of(const Vector& logits) const {
  switch (metric) {
    case Metric::logit_difference: return static_cast<double>(logits(right)) - static_cast<double>(logits(wrong));
    case Metric::probability: return static_cast<double>(probabilities(logits)(right));
    case Metric::kl: return divergence(clean, log_probabilities(logits));
    case Metric::rank: break;
  }
  return 1 + static_cast<double>((logits.array() > logits(right)).count());
}

double PatchMetric::of(const Trace& trace, Index query) const { return of(logits_at(trace, query)); }

Result<PatchMetric> metric_of(const Trace& clean, const Trace& corrupt, const MetricWanted& wanted,
                              std::optional<Index> corrupt_query) {
  PatchMetric metric;
  metric.clean_query = wanted.query.value_or(clean.answering);
  metric.corrupt_query = wanted.query ? corrupt_query.value_or(*wanted.query) : corrupt.answering;
  const Vector of_clean = logits_at(clean, metric.clean_query);
  metric.right = wanted.right ? *wanted.right : likeliest(clean, of_clean);
  metric.wrong = wanted.wrong ? *wanted.wrong : likeliest(corrupt, logits_at(corrupt, metric.corrupt_query));
  const bool differ = metric.right != metric.wrong;
  metric.metric = wanted.metric.value_or(differ ? Metric::logit_difference : Metric::probability);
  if (metric.metric == Metric::logit_difference && !differ)
    return bad_input("--metric logit-difference", "", "two words (--answers RIGHT,WRONG)",
                     "one, " + candidate(*clean.model, of_clean, metric.right).text);
  if (metric.metric == Metric::kl) metric.clean = log_probabilities(of_clean);
  return metric;
}

std::string metric_text(const Model& model, const PatchMetric& metric) {
  const auto word = [&](Index row) { return candidate(model, row).text; };
  switch (metric.metric) {
    case Metric::logit_difference: return "logit difference " + word(metric.right) + " − " + word(metric.wrong);
    case Metric::probability: return "probability of " + word(metric.right);
    case Metric::kl: return "KL divergence from the clean answer";
    case Metric::rank: break;
  }
  return "rank of " + word(metric.right);
}

}  // namespace headlight
