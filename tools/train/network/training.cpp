#include "train/network/training.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/random.h"
#include "math/kernels/kernels.h"

namespace headlight {

void adamw_step(Network& network, const Floats& gradients, Moments& moments, const AdamW& adamw, Index step,
                float learning_rate, float gradient_scale, Workspace* workspace) {
  assert(step >= 1 && gradients.size() == network.values.size());
  moments.first.resize(gradients.size());
  moments.second.resize(gradients.size());
  const double t = static_cast<double>(step);
  AdamWStep numbers{
      .beta1 = adamw.beta1, .beta2 = adamw.beta2, .epsilon = adamw.epsilon, .gradient_scale = gradient_scale};
  numbers.rate =
      static_cast<float>(static_cast<double>(learning_rate) / (1.0 - std::pow(static_cast<double>(adamw.beta1), t)));
  numbers.correction = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(static_cast<double>(adamw.beta2), t)));
  for (const Parameter& parameter : network.parameters) {
    numbers.keep = parameter.decays ? 1.0f - learning_rate * adamw.decay : 1.0f;
    const auto follow = [&](Index begin, Index end) {
      const Index at = parameter.offset + begin;
      math_kernels().adamw(numbers, gradients.data() + at, moments.first.data() + at, moments.second.data() + at,
                           network.values.data() + at, end - begin);
    };
    if (workspace) workspace->split(parameter.size(), follow);
    else follow(0, parameter.size());
  }
}

double global_norm(const Floats& gradients) {
  return std::sqrt(math_kernels().sum_of_squares(gradients.data(), static_cast<Index>(gradients.size())));
}

float clip_scale(double norm, float most) {
  if (most <= 0.0f || !(norm > static_cast<double>(most))) return 1.0f;
  return static_cast<float>(static_cast<double>(most) / norm);
}

float learning_rate(const Schedule& schedule, Index step) {
  if (step <= schedule.warmup) return schedule.peak * static_cast<float>(step) / static_cast<float>(schedule.warmup);
  constexpr double kPi = 3.14159265358979323846;
  const Index falling = std::max<Index>(schedule.steps - schedule.warmup, 1);
  const double done = std::min(1.0, static_cast<double>(step - schedule.warmup) / static_cast<double>(falling));
  const double share = schedule.floor + (1.0 - schedule.floor) * 0.5 * (1.0 + std::cos(kPi * done));
  return static_cast<float>(schedule.peak * share);
}

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
