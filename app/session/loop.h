// One turn of the loop: commands in, answers in, work out. Everything around the pure state that touches threads,
// files and time is here.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "derived/answer_comparison.h"
#include "session/figure_request.h"
#include "session/trainer.h"
#include "session/update.h"
#include "session/worker.h"

namespace headlight {

/// What comes from rooms above, or is where this machine has it.
struct LoopOptions {
  DrawFigure draw_figure = {};   // writes figures; empty: none can be written
  TrainerOptions training = {};  // where trainings are kept; no folder: none can begin
};

class Loop {
 public:
  /// `wake` is called from other threads when an answer is ready. `autosave` is where the session is kept against a
  /// crash; empty: nowhere. Settings are written only where there is an autosave.
  Loop(std::function<void()> wake, std::string autosave, LoopOptions options = {});
  /// A clean end: what was asked to be saved is saved, a training is stopped and kept, everything else stops, and the
  /// autosave is taken away.
  ~Loop();

  /// Applies the commands, then the workers' answers, then posts what is wanted and not yet asked. `now` in seconds. True
  /// where an answer of any kind came: it is to be seen.
  bool step(AppState& state, Commands& commands, double now);

  /// What a window shows of the work: the answer, or an export.
  bool computing() const { return traces_.busy(); }
  float computing_progress() const { return traces_.progress(); }
  /// Waits for the answer, at most so many seconds; the next step takes it.
  void wait_for_answer(double seconds) const { traces_.wait(seconds); }
  bool writing() const { return files_.busy(); }
  float writing_progress() const { return files_.progress(); }
  /// Whether every head is being switched off in turn.
  bool sweeping() const { return sweeps_.busy(); }
  float sweep_progress() const { return sweeps_.progress(); }
  bool reading() const { return maps_.busy(); }  // the maps of another kind than weights
  float reading_progress() const { return maps_.progress(); }
  /// Seconds until something is due without any event (an autosave, a running job out of patience).
  double next_due(double now) const;

  /// Runs steps until nothing is stale and no work is left but a training: for screenshots and tests.
  void settle(AppState& state);
  /// Runs steps until a training stands still: paused, stopped, failed or done.
  void settle_training(AppState& state);

 private:
  void carry_out(const AppState& state, const Command& command);
  void ask(AppState& state);
  void ask_detail(const AppState& state);
  void ask_baseline(const AppState& state);
  void ask_inside(const AppState& state);
  void ask_check(const AppState& state);
  void list_trainings(const AppState& state);
  void ask_heads(const AppState& state);
  void ask_effects(const AppState& state);
  void ask_flow(const AppState& state);
  void ask_comparison(const AppState& state);
  void ask_kept(const AppState& state);
  void ask_maps(const AppState& state);
  void ask_folds(const AppState& state);
  void keep(const AppState& state, double now);
  bool is_answering() const;

  struct FileJob {
    Job run;
    bool saves = false;  // must not be lost when the program ends
  };

  Worker traces_, details_, baselines_, insides_, flows_, checks_, heads_, sweeps_, maps_, folds_, comparisons_, kepts_,
      files_, lister_, keeper_;
  /// Those whose answers are commands, in the order in which these are taken.
  const std::array<Worker*, 14> answering_{&traces_,      &baselines_, &details_, &insides_, &flows_,
                                           &checks_,      &heads_,     &sweeps_,  &maps_,    &folds_,
                                           &comparisons_, &kepts_,     &files_,   &lister_};
  DrawFigure draw_figure_;
  std::filesystem::path trained_;  // where trainings are kept
  Trainer trainer_;
  std::optional<std::pair<std::uint64_t, TrainingPhase>> listed_;  // the training, when they were listed last
  std::vector<FileJob> file_jobs_;                                 // wait for files_, first come first served
  bool saving_ = false;                                            // the last of them that files_ was given saves
  std::optional<Request> asked_;
  std::shared_ptr<const Trace> detail_trace_;  // what details_ was asked last
  std::optional<Region> detail_region_;
  std::optional<Request> baseline_asked_;
  std::optional<InsideQuestion> inside_asked_;
  std::optional<FlowQuestion> flow_asked_;
  std::shared_ptr<const Model> check_asked_;                                        // while it is looked at
  std::optional<HeadQuestion> heads_asked_;                                         // while it is looked at
  std::shared_ptr<const Trace> sweep_asked_;                                        // likewise
  std::optional<ComparisonQuestion> comparison_asked_;                              // likewise
  std::optional<AnswerSnapshot> kept_asked_;                                        // likewise
  std::optional<std::pair<std::shared_ptr<const Trace>, MapKind>> maps_asked_;      // likewise
  std::optional<std::pair<std::shared_ptr<const Trace>, FoldChoice>> folds_asked_;  // likewise

  std::string autosave_;
  Session kept_;  // as written last
  Settings kept_settings_;
  std::optional<double> changed_at_;
  bool first_step_ = true;
};

}  // namespace headlight
