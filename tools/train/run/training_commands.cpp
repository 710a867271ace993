#include "train/run/training_commands.h"

#include <algorithm>
#include <filesystem>

#include "models/log_folder.h"
#include "session/loop/loop.h"
#include "session/state_rules.h"
#include "train/run/trainer.h"
#include "train/run/trainings.h"

namespace headlight {
namespace {

/// The training that a worker's answer is about; null: another one has begun meanwhile.
TrainingRun* run_of(AppState& state, std::uint64_t id) {
  Trainings& part = trainings(state);
  if (!part.run || part.run->id != id) return nullptr;
  ++part.version;
  return &*part.run;
}

bool refuse_second(AppState& state) {
  if (!trainings(state).run || !is_active(*trainings(state).run)) return false;
  state.notice = notice_of(bad_input("training", "", "the one that goes on to be stopped first", "another one",
                                     ErrorCode::training_goes_on));
  return true;
}

TrainingRun& new_run(AppState& state) {
  Trainings& part = trainings(state);
  const std::uint64_t id = part.run ? part.run->id + 1 : 1;
  ++part.version;
  state.view.view = View::train;
  return part.run.emplace(TrainingRun{.id = id});
}

/// Puts the shown model into every document that the training answers, those of undo included: intermediate models of
/// the training are not kept alive there, and undo changes the question, never the training step.
void show_model(AppState& state, const std::shared_ptr<const Model>& model,
                const std::shared_ptr<const TrainingCard>& card) {
  const TrainingRun& run = *trainings(state).run;
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
  const TrainingRun& run = *trainings(state).run;
  show_model(state, run.live, card_at(run, run.step));
  if (run.card && shows_training(state) && !loaded_model(state)) await_check(state, {});
}

/// The training's model answers the document from now on; its text, mask and edits stay.
void take_training(AppState& state, CommandKind kind) {
  stop_generating(state);
  end_gesture(state);
  const TrainingRun& run = *trainings(state).run;
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

// Commands of the user. A second training is refused while one goes on.
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
  std::optional<TrainingRun>& run = trainings(state).run;
  if (run && run->phase == TrainingPhase::running) run->phase = TrainingPhase::paused;
}

/// The worker paused.
void take_reply(AppState& state, TrainingPaused& paused, CommandKind) {
  if (run_of(state, paused.run)) pause_training(state);
}

void resume_training(AppState& state) {
  if (!trainings(state).run || !can_resume(*trainings(state).run)) return;
  trainings(state).run->phase = TrainingPhase::running;
  trainings(state).run->failure.reset();
  trainings(state).run->until = 0;
}

void stop_training(AppState& state) {
  if (trainings(state).run && is_active(*trainings(state).run)) trainings(state).run->phase = TrainingPhase::stopped;
}

/// Shows a kept step, or the newest; a document that another model answers first gets the training's model.
void choose_shot(AppState& state, const ChooseShot& chosen, CommandKind kind) {
  const std::optional<Index> step = chosen.step;
  if (!trainings(state).run || !trainings(state).run->live) return;
  const bool taken = !shows_training(state);
  if (taken) take_training(state, kind);
  TrainingRun& run = *trainings(state).run;
  const Shot* shot = step ? nearest_shot(run, *step) : nullptr;
  if (!shot) {
    run.shown.reset();
    return show_newest(state);
  }
  if (!taken && run.shown == shot->step) return;
  run.shown = shot->step;
  show_model(state, model_at(run, *shot), card_at(run, shot->step));
}

/// For a kept answer that the current training gave at a step: shows that step again, with its model.
void show_kept_step(AppState& state, Index step, const Document& kept) {
  if (!trainings(state).run || trainings(state).run->folder.empty() || kept.model_path != trainings(state).run->folder)
    return;
  trainings(state).run->shown = step;
  show_model(state, kept.model, kept.card);
}

/// One step of undo: the training's model answers the document.
void show_training(AppState& state, CommandKind kind) {
  if (!trainings(state).run || !trainings(state).run->live || shows_training(state)) return;
  take_training(state, kind);
  trainings(state).run->shown.reset();
  show_newest(state);
}

// Answers of the worker; those of another training than the last are ignored.
/// The document gets the model: one step of undo. What follows until the end is none.
void take_reply(AppState& state, TrainingBegun& begun, CommandKind kind) {
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

void take_reply(AppState& state, TrainingNews& news, CommandKind) {
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

void take_reply(AppState& state, TrainingDone& done, CommandKind) {
  TrainingRun* run = run_of(state, done.run);
  if (!run) return;
  run->seconds_left = 0;
  run->phase = TrainingPhase::done;
  run->card = std::move(done.card);
  if (!run->shown) show_newest(state);
}

void take_reply(AppState& state, TrainingFailed& failed, CommandKind) {
  TrainingRun* run = run_of(state, failed.run);
  if (!run) return;
  run->phase = TrainingPhase::failed;
  state.notice = notice_of(failed.error);
  run->failure = std::move(failed.error);
}

/// What the viewer knows of a training.
void tell(AppState& state) {
  const std::optional<TrainingRun>& run = trainings(state).run;
  if (run) state.live = LiveModel{run->folder, is_active(*run), run->step, run->live_step, run->shown};
}

/// The handler of a command, after which the viewer knows how far the training is.
template <class T, auto run>
void carry_out_and_tell(AppState& state, Command& command) {
  carry_out<T, run>(state, command);
  tell(state);
}
template <class T, auto run>
constexpr Handler told() {
  return {command_kind<T>, carry_out_and_tell<T, run>};
}

void set_plan(AppState& state, SetTrainingPlan& command) { trainings(state).plan = std::move(command.plan); }
void show_advanced(AppState& state, const ShowAdvanced& command) { trainings(state).advanced = command.on; }
void set_corpus(AppState& state, SetCorpus& command) {
  trainings(state).corpus.text = std::move(command.text);
  state.browser.purpose = Browser::Purpose::none;
}
void take_any(AppState& state, TrainingReply& reply, CommandKind kind) {
  std::visit([&](auto& one) { take_reply(state, one, kind); }, reply);
}

constexpr Handler kHandlers[] = {handler<SetTrainingPlan, set_plan>(),
                                 handler<ShowAdvanced, show_advanced>(),
                                 handler<SetCorpus, set_corpus>(),
                                 told<StartTraining, start_training>(),
                                 told<ContinueTraining, continue_training>(),
                                 told<PauseTraining, pause_training>(),
                                 told<ResumeTraining, resume_training>(),
                                 told<StopTraining, stop_training>(),
                                 told<ChooseShot, choose_shot>(),
                                 told<ShowTraining, show_training>(),
                                 told<TrainingReply, take_any>()};

std::vector<Errand> training_answers(JobThreads& threads, const std::function<void()>& wake) {
  std::vector<Errand> answers;
  answers.emplace_back(threads, wake, &Trainings::trained);
  return answers;
}

std::unique_ptr<Companion> trainer(JobThreads& threads, const std::function<void()>& wake, const LoopOptions& options) {
  TrainerOptions wanted = options.of_tools.get<TrainerOptions>();
  if (wanted.folder.empty()) wanted.folder = options.kept;
  return std::make_unique<Trainer>(threads, wake, std::move(wanted));
}

/// A folder that another program's training writes (python/headlight's log).
std::optional<Command> open_log(const std::string& path) {
  if (logged_steps(path).empty()) return std::nullopt;
  return ContinueTraining{path};
}

void show_step(AppState& state, Index step, const Document& kept) {
  show_kept_step(state, step, kept);
  tell(state);
}

}  // namespace

const ToolState kTrainState{.handlers = kHandlers,
                            .view = View::train,
                            .answers = training_answers,
                            .companion = trainer,
                            .opens = open_log,
                            .show_step = show_step,
                            .measure_layers = measure_layers};

bool shows_training(const AppState& state) {
  const auto& run = trainings(state).run;
  return run && !run->folder.empty() && state.document.model_path == run->folder;
}

TrainingPlan next_training(const AppState& state) {
  const TrainingPlan& chosen = trainings(state).plan;
  TrainingPlan plan = default_plan(takes_shape(state.document) ? state.document.config : config_of(state.document));
  plan.config.seed = chosen.config.seed;
  if (chosen.task == plan.task) plan.corruption = chosen.corruption;  // that of another task has no meaning here
  plan.recipe = chosen.recipe;
  plan.batch = chosen.batch;
  return plan;
}

const std::vector<TrainedFolder>& trained_folders(const AppState& state) {
  static const std::vector<TrainedFolder> none;
  const auto& trained = trainings(state).trained;
  return trained ? *trained : none;
}

std::optional<TrainedQuestion> trained_question(const AppState& state, const Services& services) {
  const auto& run = trainings(state).run;
  const bool settled = (run && is_active(*run)) || !services.is_busy();
  if (services.kept.empty() || !settled) return std::nullopt;
  if (!run) return TrainedQuestion{services.kept};
  return TrainedQuestion{services.kept, run->id, run->phase};
}

std::shared_ptr<const std::vector<TrainedFolder>> trained_in(const TrainedQuestion& question, Progress&) {
  return std::make_shared<const std::vector<TrainedFolder>>(list_trained(question.folder));
}

}  // namespace headlight
