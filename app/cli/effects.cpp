#include "cli/effects.h"

#include <algorithm>

#include "math/output.h"
#include "model/head_text.h"

namespace headlight {

Status take_baseline(const EffectOptions& options, const Document& document, const Lexicon& lexicon, int threads,
                     EffectWanted& effects) {
  if (options.baseline.empty()) return Done{};
  const std::size_t colon = std::min(options.baseline.find(':'), options.baseline.size());
  const std::string kind = options.baseline.substr(0, colon);
  if ((kind != "mean" && kind != "resample") || colon == options.baseline.size())
    return bad_input("--baseline", "", "mean:FILE or resample:FILE (--off-as has zero and mean)", options.baseline);
  effects.mean_of_others = kind == "mean";
  auto others = traces_of_lines(document, options.baseline.substr(colon + 1), lexicon, threads);
  if (!others) return others.error();
  effects.others = *std::move(others);
  return Done{};
}

Status take_metric(const EffectOptions& options, const Trace& trace, EffectWanted& effects, std::optional<Index> right,
                   std::optional<Index> wrong) {
  if (!right && !options.metric.given()) return Done{};
  if (const auto valid = check_has_logits(trace, "--metric"); !valid) return valid;
  if (options.metric.query)
    return bad_input("--query", "", "no --query with --effect", std::to_string(*options.metric.query));
  const auto wanted = options.metric.wanted(*trace.model, right, wrong);
  if (!wanted) return wanted.error();
  const auto metric = metric_of(trace, trace, *wanted);
  if (!metric) return metric.error();
  effects.metric = [metric = *metric](const Vector& logits) { return metric.of(logits); };
  return Done{};
}

namespace {

/// The effects of one sentence of a study.
Result<std::vector<StudyCell>> cells_of(const StudyTraces& traces, const EffectOptions& options,
                                        const EffectWanted& baseline) {
  const Trace& trace = *traces.clean;
  EffectWanted effects = baseline;
  if (const Status taken = take_metric(options, trace, effects, traces.right, traces.wrong); !taken)
    return taken.error();
  Progress progress;
  const auto found = head_effects(trace, progress, traces.threads, effects);
  if (!found) return found.error();
  std::vector<StudyCell> cells;
  for (const HeadEffect& one : **found) {
    const auto add = [&](const char* what, const std::optional<float>& value) {
      if (value)
        cells.push_back({{what, std::string(stack_name(one.head.stack)), std::to_string(one.head.layer),
                          std::to_string(one.head.head)},
                         static_cast<double>(*value)});
    };
    add("effect", one.change);
    add("top_word", one.top_word);
    add("metric", one.metric);
    add("spread", one.spread);
  }
  return cells;
}

}  // namespace

Result<int> study_effects(const QuestionCommand& command, const EffectOptions& options) {
  EffectWanted baseline;
  const auto prepare = [&](const Document& document, const Lexicon& lexicon) {
    return take_baseline(options, document, lexicon, command.request().threads(), baseline);
  };
  return run_study(command, options.study,
                   {.columns = {"what", "stack", "layer", "head"},
                    .title = "the effect of each head that is off",
                    .options = "effect|" + options.baseline + "|" + options.metric.text(),
                    .with_corrupt = false,
                    .prepare = prepare,
                    .answer = [&](const StudyTraces& traces) { return cells_of(traces, options, baseline); }});
}

}  // namespace headlight
