#include "train/network/training.h"

#include <cmath>
#include <string>

#include "base/random.h"

namespace headlight {

StepReport train_step(Training& training, const Batch& batch, const TrainingRecipe& recipe, Workspace& workspace) {
  Network& network = training.network;
  Floats& gradients = workspace.gradients();
  StepReport report;
  const std::uint64_t seed = derive_seed(network.config.seed, "step " + std::to_string(++training.step));
  report.loss = loss_and_gradients(network, batch, recipe.objective, seed, gradients, workspace);
  report.gradient_norm = global_norm(gradients);
  report.learning_rate = learning_rate(recipe.schedule, training.step);
  if ((report.loss.weight <= 0.0 && report.loss.attention_weight <= 0.0) || !std::isfinite(report.loss.mean) ||
      !std::isfinite(report.loss.attention) || !std::isfinite(report.gradient_norm))
    return report;
  adamw_step(network, gradients, training.moments, recipe.adamw, training.step, report.learning_rate,
             clip_scale(report.gradient_norm, recipe.clip), &workspace);
  return report;
}

}  // namespace headlight
