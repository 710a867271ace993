// One step of training after another: the loss, its gradients, and how the numbers of a network follow them.
#pragma once

#include "train/network/gradients.h"
#include "train/network/network.h"

namespace headlight {

struct Moments {
  Floats first, second;  // of the gradients and of their squares; empty before the first step
};

/// One step, `step` counted from 1. The gradients are multiplied by `gradient_scale` as they are read (clipping).
/// `workspace` lends threads, which change no bit; null: none.
void adamw_step(Network& network, const Floats& gradients, Moments& moments, const AdamW& adamw, Index step,
                float learning_rate, float gradient_scale = 1, Workspace* workspace = nullptr);

/// The Euclidean norm of all gradients.
double global_norm(const Floats& gradients);

/// The factor of gradients of this norm that makes it at most `most` (Pascanu et al. 2013); 1 where `most` is 0.
float clip_scale(double norm, float most);

/// Of step 1, 2, …; beyond the last step the floor.
float learning_rate(const Schedule& schedule, Index step);

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

/// One step. Where the loss or the gradients are not finite, or there are no targets, the network is unchanged
/// (the step counts).
StepReport train_step(Training& training, const Batch& batch, const TrainingRecipe& recipe, Workspace& workspace);

}  // namespace headlight
