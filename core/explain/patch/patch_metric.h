// The number by which two answers are compared, and that a patch restores or loses.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "base/result.h"
#include "model/trace.h"

namespace headlight {

/// logit_difference: the logit of `right` minus that of `wrong`. probability: of `right`. kl: KL(clean ‖ m) of the
/// word's distribution, in nats. rank: of `right` among all words, 1 the first.
enum class Metric { logit_difference, probability, kl, rank };
inline constexpr std::string_view kMetricNames[] = {"logit-difference", "probability", "kl", "rank"};

inline std::string_view name(Metric metric) { return name_in(kMetricNames, metric); }

/// The metric where differences and shares are taken: of a rank its logarithm to base 2, since from 7,000 to 100 is as
/// far as from 70 to 1; of the others the metric itself.
double on_scale(Metric metric, double value);

/// What is asked for; what is left out is found: `right` is the most probable word of the clean answer, `wrong` that of
/// the corrupt one, the query is Trace::answering of each, and without a metric it is the logit difference, of two
/// answers with one word the probability.
struct MetricWanted {
  std::optional<Metric> metric = {};
  std::optional<Index> right = {}, wrong = {};  // rows of the output layer
  std::optional<Index> query = {};              // of the clean sentence
};

struct PatchMetric {
  Metric metric = Metric::logit_difference;
  Index right = 0, wrong = 0;
  Index clean_query = 0, corrupt_query = 0;  // the next word of these tokens, or the masked one at them
  std::vector<double> clean = {};            // of kl: the logarithms of the clean answer's probabilities

  /// Of the logits of that query, (V), or of those of a query of an answer.
  double of(const Vector& logits) const;
  double of(const Trace& trace, Index query) const;
};

/// `corrupt_query` is the token of the corrupt sentence for wanted.query. Errors: a logit difference of one word.
Result<PatchMetric> metric_of(const Trace& clean, const Trace& corrupt, const MetricWanted& wanted,
                              std::optional<Index> corrupt_query = {});

/// `logit difference Mary − John`, `probability of Mary`.
std::string metric_text(const Model& model, const PatchMetric& metric);

}  // namespace headlight
