// The trainings of a window: one at a time, beside the workers that answer. What it does follows
// from the state's training; its messages come back as commands.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "session/loop/worker.h"
#include "session/state.h"
#include "train/run/training_job.h"

namespace headlight {

class Trainer {
 public:
  Trainer(JobThreads& threads, std::function<void()> wake, TrainerOptions options);

  /// Begins, pauses, continues or stops as the state has it, and asks for a model where the window could show another.
  void follow(const AppState& state);
  /// The replies since the last call, in order.
  std::vector<Command> take();
  /// Blocks until it stands still: paused, stopped, failed or done.
  void wait() const { worker_.wait(); }
  /// Whether it works, or its last message was not taken yet.
  bool busy() const { return worker_.busy(); }

 private:
  std::function<void()> wake_;
  TrainerOptions options_;
  std::shared_ptr<TrainingJob> job_;  // the last training's; null: none yet
  bool going_ = false;                // what was asked of it last
  Worker worker_;                     // its end stops what runs, which is kept
};

}  // namespace headlight
