// The trainings of a window: one at a time, beside the workers that answer.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "session/loop/companion.h"
#include "session/loop/worker.h"
#include "session/state.h"
#include "train/run/training_job.h"

namespace headlight {

class Trainer final : public Companion {
 public:
  Trainer(JobThreads& threads, std::function<void()> wake, TrainerOptions options);

  /// Begins, pauses, continues or stops as the state has it, and asks for a model where the window could show another.
  void follow(const AppState& state) override;
  std::vector<Command> take() override;
  /// Blocks until it stands still: paused, stopped, failed or done.
  void wait() const override { worker_.wait(); }
  bool busy() const override { return worker_.busy(); }

 private:
  std::function<void()> wake_;
  TrainerOptions options_;
  std::shared_ptr<TrainingJob> job_;  // the last training's; null: none yet
  bool going_ = false;                // what was asked of it last
  Worker worker_;                     // its end stops what runs, which is kept
};

}  // namespace headlight
