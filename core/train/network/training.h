// One step of training after another: the loss, its gradients, and what follows from them.
#pragma once

#include "train/network/adamw.h"
#include "train/network/gradients.h"

namespace headlight {

struct TrainingRecipe {
  AdamW adamw = {};
  Schedule schedule = {};
  float clip = 1;  // largest global norm of the gradients; 0: none
  Objective objective = {};
};

/// All that a training goes on from: stored and read back, it continues to the same bits.
struct Training {
  Network network;
  Moments moments = {};
  Index step = 0;  // steps taken
};

struct StepReport {
  Loss loss;
  double gradient_norm = 0;  // before clipping
  float learning_rate = 0;
};

/// One step. Where the loss or the gradients are not finite, or nothing was asked, the network stays as it was
/// (the step counts).
StepReport train_step(Training& training, const Batch& batch, const TrainingRecipe& recipe, Workspace& workspace);

}  // namespace headlight
