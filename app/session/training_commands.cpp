#include "session/training_commands.h"

#include <algorithm>
#include <filesystem>

#include "session/state_rules.h"

namespace headlight {
namespace {

/// The training that a worker's answer is about; null: another one has begun meanwhile.
TrainingRun* run_of(AppState& state, std::uint64_t id) {
  if (!state.training || state.training->id != id) return nullptr;
  ++state.training_version;
  return &*state.training;
}

bool refuse_second(AppState& state) {
  if (!state.training || !is_active(*state.training)) return false;
  state.notice = notice_of(bad_input("training", "", "the one that goes on to be stopped first", "another one",
                                     ErrorCode::training_goes_on));
  return true;
}

TrainingRun& new_run(AppState& state) {
  const std::uint64_t id = state.training ? state.training->id + 1 : 1;
  ++state.training_version;
  state.view.view = View::train;
  return state.training.emplace(TrainingRun{.id = id});
}

/// Puts the shown model into every document that the training answers, those of undo included: intermediate models of
/// the training are not kept alive there, and undo changes the question, never the training step.
void show_model(AppState& state, const std::shared_ptr<const Model>& model,
                const std::shared_ptr<const TrainingCard>& card) {
  const TrainingRun& run = *state.training;
  const auto give = [&](Document& document) {
    if (document.model_path != run.folder) return;
    document.model = model;
    document.card = card;
    document.tokenizers = run.tokenizers;
  };
  for (auto* documents : {&state.undo, &state.redo})
    for (Document& document : *documents) give(document);
  if (state.gesture) give(*state.gesture);
  give(state.saved_document);
  if (state.document.model_path != run.folder) return;
  give(state.document);
  ask_again(state);
}

void show_newest(AppState& state) {
  const TrainingRun& run = *state.training;
  show_model(state, run.live, card_at(run, run.step));
  if (run.card && shows_training(state) && !check_of_model(state)) await_check(state, {});
}

/// The training's model answers the document from now on; its text, mask and edits stay.
void take_training(AppState& state, std::size_t kind) {
  stop_generating(state);
  end_gesture(state);
  const TrainingRun& run = *state.training;
  Document& document = edited(state, kind);
  const Arch before = config_of(document).arch;
  document.config = run.plan.config;
  document.model_path = run.folder;
  document.trained = !run.live->given;
  if (before != run.plan.config.arch) document.mask.causal = is_causal_by_default(run.plan.config.arch);
  for (const TextSide side : {TextSide::source, TextSide::target}) text_input(document, side).ids.clear();
  document.token_types.clear();
  document.model = run.live;
  document.tokenizers = run.tokenizers;
  end_gesture(state);
}

}  // namespace

void start_training(AppState& state, StartTraining& command) {
  if (refuse_second(state)) return;
  TrainingRun& run = new_run(state);
  run.plan = std::move(command.plan);
  run.corpus = std::move(command.corpus);
  run.until = command.until;
}

void continue_training(AppState& state, ContinueTraining& command) {
  if (refuse_second(state)) return;
  new_run(state).resumed = std::move(command.folder);
}

void pause_training(AppState& state) {
  if (!state.training) return;
  TrainingPaused here{state.training->id};
  take(state, here, 0);
}

void take(AppState& state, TrainingPaused& paused, std::size_t) {
  TrainingRun* run = run_of(state, paused.run);
  if (run && run->phase == TrainingPhase::running) run->phase = TrainingPhase::paused;
}

void resume_training(AppState& state) {
  if (!state.training || !can_resume(*state.training)) return;
  state.training->phase = TrainingPhase::running;
  state.training->failure.reset();
  state.training->until = 0;
}

void stop_training(AppState& state) {
  if (state.training && is_active(*state.training)) state.training->phase = TrainingPhase::stopped;
}

void choose_shot(AppState& state, std::optional<Index> step, std::size_t kind) {
  if (!state.training || !state.training->live) return;
  const bool taken = !shows_training(state);
  if (taken) take_training(state, kind);
  TrainingRun& run = *state.training;
  const Shot* shot = step ? nearest_shot(run, *step) : nullptr;
  if (!shot) {
    run.shown.reset();
    return show_newest(state);
  }
  if (!taken && run.shown == shot->step) return;
  run.shown = shot->step;
  show_model(state, model_at(run, *shot), card_at(run, shot->step));
}

void show_kept_step(AppState& state, Index step, const Document& kept) {
  if (!state.training || state.training->folder.empty() || kept.model_path != state.training->folder) return;
  state.training->shown = step;
  show_model(state, kept.model, kept.card);
}

void show_training(AppState& state, std::size_t kind) {
  if (!state.training || !state.training->live || shows_training(state)) return;
  take_training(state, kind);
  state.training->shown.reset();
  show_newest(state);
}

void take(AppState& state, TrainingBegun& begun, std::size_t kind) {
  TrainingRun* run = run_of(state, begun.run);
  if (!run) return;
  if (run->phase == TrainingPhase::preparing) run->phase = TrainingPhase::running;
  run->plan = std::move(begun.plan);
  run->corpus = std::move(begun.corpus);
  run->folder = std::move(begun.folder);
  run->name = std::filesystem::path(run->folder).filename().string();
  run->step = begun.step;
  run->tokens = begun.tokens;
  run->layout = std::move(begun.layout);
  run->live = std::move(begun.model);
  run->live_step = begun.step;
  run->tokenizers = std::move(begun.tokenizers);
  if (!is_active(*run)) return;  // it was stopped meanwhile
  take_training(state, kind);
  show_newest(state);
}

void take(AppState& state, TrainingNews& news, std::size_t) {
  TrainingRun* run = run_of(state, news.run);
  if (!run) return;
  for (const StepResult& result : news.results) {
    add(run->losses, ++run->step, result);
    run->tokens += static_cast<double>(result.tokens);
  }
  if (run->live && run->live->given && !news.shots.empty()) {  // of another program, which reports no loss
    run->step = std::max(run->step, news.shots.back().step);
    run->plan.recipe.schedule.steps = run->step;
  }
  run->tokens_per_second = news.tokens_per_second;
  run->seconds_left = news.seconds_left;
  run->shots.insert(run->shots.end(), news.shots.begin(), news.shots.end());
  thin(run->shots, news.clock);
  for (ScorePoint& point : news.scores) add(run->scores, std::move(point));
  if (news.measuring && is_active(*run)) run->phase = TrainingPhase::measuring;
  if (!news.model) return;
  run->live = std::move(news.model);
  run->live_step = run->step;
  if (!run->shown) show_newest(state);
}

void take(AppState& state, TrainingDone& done, std::size_t) {
  TrainingRun* run = run_of(state, done.run);
  if (!run) return;
  run->seconds_left = 0;
  run->phase = TrainingPhase::done;
  run->card = std::move(done.card);
  if (!run->shown) show_newest(state);
}

void take(AppState& state, TrainingFailed& failed, std::size_t) {
  TrainingRun* run = run_of(state, failed.run);
  if (!run) return;
  run->phase = TrainingPhase::failed;
  state.notice = notice_of(failed.error);
  run->failure = std::move(failed.error);
}

}  // namespace headlight
