#include "session/answer_update.h"

#include <utility>

#include "session/state_rules.h"
#include "session/telling.h"
#include "session/training_commands.h"

namespace headlight {

void AnswerUpdate::operator()(TraceReady& c) {
  if (!is_stale(state) && !(c.trace->request == *wanted(state))) return;  // no longer wanted
  state.trace = std::move(c.trace);
  state.trace_milliseconds = c.milliseconds;
  ++state.trace_version;
  if (c.folded) state.folded = std::move(c.folded);
  state.other_maps = std::move(c.maps);  // those of the answer before are of no use, and hold it
  state.refused.reset();
  state.refusal.clear();
  take_facts(state);
  keep_baseline(state);
  tell(state);
  generate(state);
  if (!state.opened_view || is_stale(state)) return;
  state.told = false;
  state.view.chosen = state.opened_view->chosen;
  state.view.pinned = state.opened_view->pinned;
  state.view.viewport = state.opened_view->viewport;
  state.view.look.matrix = matrix_id(state.view.look.matrix.quantity, state.view.chosen);
  state.opened_view.reset();
}

void AnswerUpdate::operator()(TraceFailed& c) {
  stop_generating(state);
  state.telling = false;
  state.refused = std::move(c.request);
  state.refusal = std::move(c.message);
}

void AnswerUpdate::operator()(BaselineReady& c) {
  if (state.trace && c.trace->request == unedited(state.trace->request)) state.baseline = std::move(c.trace);
}

void AnswerUpdate::operator()(InsideReady& c) {
  state.inside = std::move(c.inside);
  ++state.inside_version;
}

void AnswerUpdate::operator()(KeptReady& c) {
  if (state.kept && !state.kept->trace && same_question(state.kept, c.kept)) state.kept = std::move(c.kept);
}

void AnswerUpdate::operator()(KeptFailed& c) {
  if (!state.kept || state.kept->trace || !same_question(state.kept, c.kept)) return;
  state.kept.reset();
  state.notice = Notice{Notice::Kind::failed, "A of Compare: " + c.message};
}

void AnswerUpdate::operator()(CheckReady& c) {
  for (ModelCheck& check : state.checks)
    if (check.model.lock() == c.model) check.findings = std::move(c.findings);
}

void AnswerUpdate::operator()(DetailReady& c) {
  const std::uint64_t version = state.detail ? state.detail->version + 1 : 1;
  state.detail = Detail{std::move(c.trace), c.region, std::move(c.weights), version};
}

void AnswerUpdate::operator()(ListingReady& c) { state.listing = std::move(c.listing); }
void AnswerUpdate::operator()(PreviewReady& c) {
  state.preview = std::move(c.preview);
  ++state.preview_version;
}

void AnswerUpdate::operator()(HeadsReady& c) { state.heads = std::move(c.heads); }

void AnswerUpdate::operator()(LayerScoresReady& c) { state.layer_scores = std::move(c.scores); }

void AnswerUpdate::operator()(EffectsReady& c) { state.effects = std::move(c.effects); }

void AnswerUpdate::operator()(GuessReady& c) { state.guess = std::move(c.guess); }

void AnswerUpdate::operator()(NearestReady& c) {
  state.nearest = NearestSentence{std::move(c.words), std::move(c.model), std::move(c.text)};
}

void AnswerUpdate::operator()(FlowReady& c) { state.flow = std::move(c.flow); }

void AnswerUpdate::operator()(MapsReady& c) { state.other_maps = std::move(c.maps); }

void AnswerUpdate::operator()(FoldsReady& c) {
  if (c.folded->trace == state.trace) state.folded = std::move(c.folded);
}

void AnswerUpdate::operator()(ComparisonReady& c) {
  const Stack stack = state.view.chosen.stack;
  const auto last = std::exchange(state.comparison, std::move(c.comparison));
  const JointStack* before = last ? last->heads->stack(stack) : nullptr;
  const JointStack* now = state.comparison->heads->stack(stack);
  if (before && !(now && same_axes(*before, *now))) state.view.compared = {};  // other words
  ++state.comparison_version;
  seek_most_changed(state);
}

void AnswerUpdate::operator()(TrainingBegun& c) { begin(state, c, kind); }

void AnswerUpdate::operator()(TrainingNews& c) { take_news(state, c); }

void AnswerUpdate::operator()(const TrainingPaused& c) { pause_training(state, c.run); }

void AnswerUpdate::operator()(TrainingDone& c) { end(state, c); }

void AnswerUpdate::operator()(TrainingFailed& c) { fail(state, c); }

void AnswerUpdate::operator()(TrainedListed& c) { state.trained = std::move(c.folders); }

}  // namespace headlight
