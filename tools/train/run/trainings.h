// What the trainings of a window add to its state, and the commands that change it.
#pragma once

#include "session/answers.h"
#include "session/state.h"
#include "train/run/training_run.h"

namespace headlight {

/// The folders of earlier trainings: listed at the start, and whenever a training has begun or ended.
struct TrainedQuestion {
  std::filesystem::path folder;
  std::uint64_t training = 0;  // the newest; 0: none
  TrainingPhase phase = TrainingPhase::stopped;
  friend bool operator==(const TrainedQuestion&, const TrainedQuestion&) = default;
};
std::optional<TrainedQuestion> trained_question(const AppState& state, const Services& services);
std::shared_ptr<const std::vector<TrainedFolder>> trained_in(const TrainedQuestion& question, Progress& progress);

/// The part of the state.
struct Trainings {
  TrainingPlan plan = default_plan({});  // of the next training; its shape is the document's
  CorpusChoice corpus;                   // … and what it is trained on
  bool advanced = false;                 // the form shows what a training can be given
  std::optional<TrainingRun> run;        // that goes on, or went on last
  std::uint64_t version = 0;             // counts its messages
  Slot<std::vector<TrainedFolder>, trained_question, trained_in> trained;
};
inline const Trainings& trainings(const AppState& state) { return part<Trainings>(state); }
inline Trainings& trainings(AppState& state) { return part<Trainings>(state); }

// Commands. One training runs at a time, on a separate worker, whose TrainingReply is a command too.
struct SetTrainingPlan {
  TrainingPlan plan;  // of the next training: all but its shape, which is the document's
};
struct ShowAdvanced {
  bool on = false;
};
struct SetCorpus {
  std::string text;  // of the next training; empty: the grammar
};
struct StartTraining {
  TrainingPlan plan;
  CorpusChoice corpus;
  Index until = 0;  // pauses behind this step, if not 0
};
struct ContinueTraining {
  std::string folder;  // goes on where it was left
};
struct PauseTraining {};
struct ResumeTraining {};
struct StopTraining {};  // and keep it
struct ChooseShot {
  std::optional<Index> step;  // looks at the kept step nearest to it; none: at the newest
};
struct ShowTraining {};  // its model answers the document again

/// Whether the document is answered by the training's model, the newest or an earlier one.
bool shows_training(const AppState& state);

/// The plan of a training that begins now: Trainings::plan for a model of the document's shape.
TrainingPlan next_training(const AppState& state);

/// The folders of earlier trainings, as listed last.
const std::vector<TrainedFolder>& trained_folders(const AppState& state);

}  // namespace headlight
