#include "study/effects.h"

#include <algorithm>

#include "base/file.h"
#include "base/formatted.h"
#include "base/names.h"
#include "base/result.h"
#include "math/output.h"
#include "math/random_choice.h"
#include "model/head_text.h"
#include "study/patch_question.h"

namespace headlight {

Result<Baseline> read_baseline(const std::string& option, const Document& document, const Lexicon& lexicon,
                               int threads) {
  Baseline baseline;
  if (option.empty()) return baseline;
  constexpr std::string_view kKinds[] = {"resample", "mean", "position"};
  const std::size_t colon = std::min(option.find(':'), option.size());
  const auto kind = value_named<BaselineKind>(kKinds, option.substr(0, colon));
  if (!kind || colon + 1 >= option.size())
    return bad_input("--baseline", "", "mean:FILE, resample:FILE or position:FILE (--off-as has zero and mean)",
                     option);
  baseline.kind = *kind;
  baseline.others = TRY(traces_of_lines(document, option.substr(colon + 1), lexicon, threads));
  return baseline;
}

Result<std::string> baseline_text(const std::string& option) {
  const std::size_t colon = option.find(':');
  if (colon == option.npos) return std::string();
  return option.substr(0, colon) + TRY(read_file(option.substr(colon + 1)));
}

Status take_effects(const EffectOptions& options, const Document& document, const Lexicon& lexicon, int threads,
                    EffectWanted& effects) {
  TRY(read_places(options.layers, "--at-heads", options.heads, Stack::self, effects.layers, effects.heads));
  effects.baseline = TRY(read_baseline(options.baseline, document, lexicon, threads));
  return Done{};
}

Status take_metric(const EffectOptions& options, const Trace& trace, EffectWanted& effects, std::optional<Index> right,
                   std::optional<Index> wrong) {
  if (!right && !options.metric.given()) return Done{};
  TRY(check_has_logits(trace, "--metric"));
  effects.query = options.metric.query;
  const auto words = std::ranges::count_if(trace.query_tokens().tokens, [](const Token& one) { return !one.pad; });
  if (effects.query) TRY(check_within("--query", "", *effects.query, words));
  else if (asked_positions(trace).empty()) effects.query = trace.answering;  // nothing is masked
  if (!right && !options.metric.metric && options.metric.answers.empty()) return Done{};
  const auto wanted = TRY(options.metric.wanted(*trace.model, right, wrong));
  const auto metric = TRY(metric_of(trace, trace, wanted));
  effects.metric = [metric](const Vector& logits) { return metric.of(logits); };
  return Done{};
}

Result<PatchControl> effect_control(const Trace& trace, const std::vector<HeadRef>& chosen, Index draws,
                                    const EffectWanted& effects, int threads) {
  TRY(check_has_logits(trace, "--control"));
  if (effects.baseline.given()) return bad_input("--control", "", "--off-as, no --baseline beside it", "both");
  const std::vector<Index> positions = asked_positions(trace);
  const Index query = effects.query.value_or(positions.empty() ? trace.answering : positions.front());
  MetricWanted wanted;
  wanted.query = query;
  const auto likeliest = TRY(metric_of(trace, trace, wanted));
  const auto value_of = [&](const Trace& answer) {
    const Vector logits = logit_rows(answer, query, 1).row(0);
    return effects.metric ? effects.metric(logits) : likeliest.of(logits);
  };
  const double whole = value_of(trace);
  const auto change_by = [&](const HeadRef* heads, std::size_t count) -> Result<double> {
    Request request = trace.request;
    for (std::size_t i = 0; i < count; ++i) switch_off(request.edits, heads[i], true);
    const auto off = TRY(forward(request, unwatched(), &trace, threads));
    return value_of(*off) - whole;
  };
  PatchControl control;
  std::vector<HeadRef> others = heads_of(trace);
  if (chosen.size() < others.size()) {
    control.together = TRY(change_by(chosen.data(), chosen.size()));
    std::erase_if(others, [&](const HeadRef& head) { return std::ranges::count(chosen, head) > 0; });
    control.cells = static_cast<Index>(std::min(chosen.size(), others.size()));
  }
  Random random(0);
  for (Index draw = 0; draw < draws; ++draw) {
    draw_to_front(random, others, static_cast<std::size_t>(control.cells));
    control.restored.push_back(TRY(change_by(others.data(), static_cast<std::size_t>(control.cells))));
  }
  return control;
}

namespace {

/// The effects of one sentence of a study.
Result<std::vector<StudyCell>> cells_of(const StudyTraces& traces, const EffectOptions& options,
                                        const EffectWanted& baseline) {
  const Trace& trace = *traces.clean;
  EffectWanted effects = baseline;
  TRY(take_metric(options, trace, effects, traces.right, traces.wrong));
  const auto found = TRY(head_effects(trace, unwatched(), traces.threads, effects));
  std::vector<StudyCell> cells;
  for (const HeadEffect& one : *found) {
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
  const Index draws = TRY(draws_of(options.control));
  if (draws == 0) return cells;
  std::vector<HeadRef> chosen;
  for (const HeadEffect& one : *found) chosen.push_back(one.head);
  add_control(TRY(effect_control(trace, chosen, draws, effects, traces.threads)), cells);
  return cells;
}

}  // namespace

Result<int> study_effects(const QuestionCommand& command, const EffectOptions& options) {
  EffectWanted baseline;
  const std::string others = TRY(baseline_text(options.baseline));
  const std::string places = joined_texts(options.layers, ",") + "|" + joined_texts(options.heads, ",");
  const auto prepare = [&](const Document& document, const Lexicon& lexicon) {
    return take_effects(options, document, lexicon, command.request().threads(), baseline);
  };
  return run_study(command, options.study,
                   {.columns = {"what", "stack", "layer", "head"},
                    .title = "the effect of each head that is off",
                    .options = "effect|" + others + "|" + options.control + "|" + options.metric.text() +
                               (places == "|" ? "" : "|" + places),
                    .with_corrupt = false,
                    .prepare = prepare,
                    .answer = [&](const StudyTraces& traces) { return cells_of(traces, options, baseline); }});
}

}  // namespace headlight
