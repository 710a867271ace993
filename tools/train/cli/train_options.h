// The options of `headlight train`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options/parser.h"
#include "train/plan.h"
#include "train/run/training_files.h"

namespace headlight {

struct TrainArguments {
  CorpusChoice corpus;
  std::vector<std::string> texts, taught_heads;
  std::vector<std::string> scored_on;                    // treebanks that the trained heads are measured on
  std::vector<std::string> text_credits, teach_credits;  // sources and their licences, for the card
  std::string folder, name, from;
  float teach_weight = 4;           // of plan.recipe.objective, where heads are taught
  std::optional<float> hide, swap;  // else as the task has it
  TrainingPlan plan = default_plan({.d_model = 128, .num_heads = 8, .num_layers = 2, .ffn = 256});
  bool resume = false, overwrite = false, half = false, labels = false, no_bias = false, untied = false;
  double save_seconds = 5;
  int threads = 0;
};

/// Adds the options to the command's parser.
void add_train_options(Parser& parser, TrainArguments& options);

/// Completes the plan, the corpus and the taught heads from the options that were given. Errors name the option.
Status complete(TrainArguments& options);

}  // namespace headlight
