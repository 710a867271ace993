#include "cli/effects.h"

#include <algorithm>

#include "document/tokenizers.h"
#include "math/output.h"
#include "model/head_text.h"

namespace headlight {

Status take_effects(const EffectOptions& options, const Document& document, const Lexicon& lexicon, int threads,
                    const Trace* trace, EffectWanted& effects) {
  const std::size_t colon = std::min(options.baseline.find(':'), options.baseline.size());
  const std::string kind = options.baseline.substr(0, colon);
  if (!kind.empty()) {
    effects.mean_of_others = kind == "mean";
    if ((kind != "mean" && kind != "resample") || colon == options.baseline.size())
      return bad_input("--baseline", "", "mean:FILE or resample:FILE (--off-as has zero and mean)", options.baseline);
    auto others = traces_of_lines(document, options.baseline.substr(colon + 1), lexicon, threads);
    if (!others) return others.error();
    effects.others = *std::move(others);
  }
  if (!trace || (!options.metric.metric && options.metric.answers.empty())) return Done{};
  if (const auto valid = check_has_logits(*trace, "--metric"); !valid) return valid;
  if (options.metric.query)
    return bad_input("--query", "", "no --query with --effect", std::to_string(*options.metric.query));
  const auto wanted = options.metric.wanted(*trace->model);
  if (!wanted) return wanted.error();
  const auto metric = metric_of(*trace, *trace, *wanted);
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
  if (traces.right || options.metric.metric || !options.metric.answers.empty()) {
    auto wanted = options.metric.wanted(*trace.model);
    if (!wanted) return wanted.error();
    if (traces.right) wanted->right = traces.right;
    if (traces.wrong) wanted->wrong = traces.wrong;
    const auto metric = metric_of(trace, trace, *wanted);
    if (!metric) return metric.error();
    effects.metric = [metric = *metric](const Vector& logits) { return metric.of(logits); };
  }
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
  const auto lexicon = read_lexicon();
  if (!lexicon) return lexicon.error();
  EffectWanted baseline;
  if (!options.baseline.empty()) {
    const auto start = command.request().start();
    if (!start) return start.error();
    const Status taken =
        take_effects(options, start->session.document, *lexicon, command.request().threads(), nullptr, baseline);
    if (!taken) return taken.error();
  }
  return run_study(command, options.study,
                   {.columns = {"what", "stack", "layer", "head"},
                    .title = "the effect of each head that is off",
                    .options = "effect|" + options.baseline + "|" + options.metric.text(),
                    .with_corrupt = false,
                    .answer = [&](const StudyTraces& traces) { return cells_of(traces, options, baseline); }});
}

}  // namespace headlight
