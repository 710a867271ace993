// A window's loop whose trainings are a test's.
#pragma once

#include "session/loop/loop.h"
#include "train/run/training_job.h"
#include "train/run/trainings.h"

namespace headlight {

inline LoopOptions trains(TrainerOptions options) {
  LoopOptions all;
  all.kept = options.folder;
  all.of_tools.get<TrainerOptions>() = std::move(options);
  return all;
}

}  // namespace headlight
