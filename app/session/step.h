// One turn of the loop: commands in, answers in, work out. Everything around the pure state that touches threads,
// files and time is here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "session/figure_order.h"
#include "session/update.h"
#include "session/worker.h"

namespace headlight {

class Loop {
 public:
  /// `wake` is called from other threads when an answer is ready. `autosave` is where the session is kept against a
  /// crash; empty: nowhere. Settings are written only where there is an autosave. `draw_figure` writes figures, which
  /// are made in rooms above this one; empty: none can be written.
  Loop(std::function<void()> wake, std::string autosave, DrawFigure draw_figure = {});
  /// A clean end: what was asked to be saved is saved, everything else stops, and the autosave is taken away.
  ~Loop();

  /// Applies the commands, then the workers' answers, then posts what is wanted and not yet asked. `now` in seconds.
  void step(AppState& state, Commands& commands, double now);

  /// What a window shows of the work: the answer, or an export.
  bool computing() const { return traces_.busy(); }
  float computing_progress() const { return traces_.progress(); }
  bool writing() const { return files_.busy(); }
  float writing_progress() const { return files_.progress(); }
  /// Seconds until something is due without any event (an autosave, a running job out of patience).
  double next_due(double now) const;

  /// Runs steps until nothing is stale and no work is left: for screenshots and tests.
  void settle(AppState& state);

 private:
  void carry_out(const AppState& state, const Command& command);
  void ask(AppState& state);
  void ask_detail(const AppState& state);
  void ask_baseline(const AppState& state);
  void ask_inside(const AppState& state);
  void ask_check(const AppState& state);
  void ask_flow(const AppState& state);
  void keep(const AppState& state, double now);

  struct FileJob {
    Job run;
    bool saves = false;  // must not be lost when the program ends
  };

  Worker traces_, details_, baselines_, insides_, flows_, checks_, files_, keeper_;
  std::vector<FileJob> file_jobs_;             // wait for files_, first come first served
  bool saving_ = false;                        // the last of them that files_ was given saves
  std::optional<Request> asked_;
  std::shared_ptr<const Trace> detail_trace_;  // what details_ was asked last
  std::optional<Region> detail_region_;
  std::optional<Request> baseline_asked_;
  std::optional<InsideQuestion> inside_asked_;
  std::optional<FlowQuestion> flow_asked_;
  std::shared_ptr<const Model> check_asked_;   // while it is looked at

  DrawFigure draw_figure_;
  std::string autosave_;
  Session kept_;                               // as written last
  Settings kept_settings_;
  std::optional<double> changed_at_;
  bool first_step_ = true;
};

}  // namespace headlight
