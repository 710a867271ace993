// The loop around the state: commands in, answers in, questions out. What touches threads, files and time is here.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/loop/companion.h"
#include "session/loop/errands.h"
#include "session/loop/worker.h"
#include "session/update.h"
#include "tool/parts.h"

namespace headlight {

/// Services of rooms above, and paths of this machine.
struct LoopOptions {
  DrawFigure draw_figure = {};        // writes figures; empty: none can be written
  std::filesystem::path kept = {};    // the folder in which tools keep what they make; empty: nowhere
  PreviewFigure preview_figure = {};  // draws figures that are about to be written; empty: none are drawn
  Parts of_tools = {};
};

class Loop {
 public:
  /// `wake` is called from other threads when an answer is ready. `autosave` is the file that keeps the session after
  /// a crash; empty: none. Settings are written only where there is an autosave.
  Loop(std::function<void()> wake, std::string autosave, LoopOptions options = {});
  /// The end: what was asked to be saved is saved, what tools do is stopped and kept on disk, everything else stops.
  /// The autosave is removed where it holds nothing unsaved; else a later window takes it over.
  ~Loop();

  /// Applies the commands, then the workers' answers, then posts what is wanted and not yet asked. `now` in seconds.
  /// True where an answer of any kind came: the window must draw it.
  bool step(AppState& state, Commands& commands, double now);

  /// The progress that a window shows: of the answer, or of an export.
  bool computing() const { return errands_.worker(&Answers::trace).busy(); }
  float computing_progress() const { return errands_.worker(&Answers::trace).progress(); }
  /// Waits for the answer, at most so many seconds; the next step takes it.
  void wait_for_answer(double seconds) const { errands_.worker(&Answers::trace).wait(seconds); }
  bool writing() const { return files_.busy(); }
  float writing_progress() const { return files_.progress(); }
  /// Whether every head is being switched off in turn.
  bool sweeping() const { return errands_.worker(&Answers::effects).busy(); }
  float sweep_progress() const { return errands_.worker(&Answers::effects).progress(); }
  bool reading() const { return reader().busy(); }  // the maps of another kind than weights, or scores of relations
  float reading_progress() const { return reader().progress(); }
  /// Seconds until something is due without any event (an autosave, a running job out of patience).
  double next_due(double now) const;

  /// Runs steps until nothing is stale and no work is left but that of tools: for screenshots and tests.
  void settle(AppState& state);
  /// Runs steps until the work of tools stands still too.
  void settle_tools(AppState& state);

 private:
  void carry_out(const AppState& state, const Command& command);
  /// Delays the end of the program until its files are saved; a failed save cancels it.
  void delay_quit(AppState& state);
  bool saves() const;
  void autosave(AppState& state, double now);
  bool is_answering() const;
  bool is_busy_beside() const;
  const Worker& reader() const;

  struct FileJob {
    Job run;
    bool saves = false;  // must not be lost when the program ends
  };

  JobThreads threads_;
  DrawFigure draw_figure_;
  Errands errands_;
  std::vector<std::unique_ptr<Companion>> companions_;
  Worker files_;
  Worker autosaves_;
  /// The workers whose answers are commands, in the order in which these are taken.
  const std::vector<Worker*> answering_;
  std::vector<FileJob> file_jobs_;  // wait for files_, in the order in which they were asked for
  bool saving_ = false;             // the last of them that files_ was given saves

  std::string autosave_;
  std::optional<Session> autosaved_;             // as written last; nothing where that failed
  Settings autosaved_settings_, kept_settings_;  // as last written; as known to be in the file
  std::optional<double> rests_at_;               // when the text that is being typed comes to rest
  std::optional<double> autosave_at_;            // when what changed is written
  bool autosave_failed_ = false;                 // and the user knows
  bool unsaved_ = false;                         // as of the last step
  bool quits_after_saving_ = false;
  bool first_step_ = true;
};

}  // namespace headlight
