// The messages of a running training; `run` is the id of its TrainingRun.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "training/training_run.h"

namespace headlight {

struct TrainingBegun {
  std::uint64_t run = 0;
  TrainingPlan plan;
  CorpusChoice corpus;
  std::string folder;
  Index step = 0;
  double tokens = 0;
  std::shared_ptr<const Network> layout;
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Tokenizers> tokenizers;
};
struct TrainingNews {
  std::uint64_t run = 0;
  std::vector<StepResult> results = {};  // of the steps since the last news
  double tokens_per_second = 0, seconds_left = 0;
  std::vector<Shot> shots = {};
  ShotClock clock = {};
  std::vector<ScorePoint> scores = {};
  std::shared_ptr<const Model> model = {};  // after the last of `results`; null: not asked for
  bool measuring = false;
};
struct TrainingPaused {
  std::uint64_t run = 0;
};  // where it was to pause by itself
struct TrainingDone {
  std::uint64_t run = 0;
  std::shared_ptr<const TrainingCard> card;
};
struct TrainingFailed {
  std::uint64_t run = 0;
  Error error;
};

using TrainingReply = std::variant<TrainingBegun, TrainingNews, TrainingPaused, TrainingDone, TrainingFailed>;

}  // namespace headlight
