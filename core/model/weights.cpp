#include "model/weights.h"

#include <cmath>

#include "base/random.h"

namespace headlight {
namespace {

/// Fresh weights are drawn wide enough for heads to differ visibly; see random_model in the header.
Linear random_linear(const Config& config, const std::string& name, Index out, Index in) {
  Linear linear;
  Random weights(derive_seed(config.seed, name + ".weight"));
  const float limit = std::sqrt(6.0f / static_cast<float>(in + out));
  linear.weight.resize(out, in);
  for (Index i = 0; i < linear.weight.size(); ++i) linear.weight.data()[i] = weights.symmetric(limit);
  if (!config.bias) return linear;
  Random biases(derive_seed(config.seed, name + ".bias"));
  const float bias_limit = 1.0f / std::sqrt(static_cast<float>(in));
  linear.bias.resize(out);
  for (Index i = 0; i < out; ++i) linear.bias(i) = biases.symmetric(bias_limit);
  return linear;
}

NormWeights fresh_norm(Index d_model) {
  return {.scale = Vector::Ones(d_model), .shift = Vector::Zero(d_model)};
}

}  // namespace

std::shared_ptr<const Model> random_model(const Config& config) {
  auto model = std::make_shared<Model>();
  model->name = "random weights, seed " + std::to_string(config.seed);
  model->config = config;
  const Index d = config.d_model;
  for (Index layer = 0; layer < config.num_layers; ++layer) {
    const std::string prefix = "layer." + std::to_string(layer) + ".";
    BlockWeights block;
    block.self = {.query = random_linear(config, prefix + "query", d, d),
                  .key = random_linear(config, prefix + "key", d, d),
                  .value = random_linear(config, prefix + "value", d, d),
                  .output = random_linear(config, prefix + "output", d, d)};
    block.attention_norm = fresh_norm(d);
    if (config.ffn > 0) {
      block.up = random_linear(config, prefix + "up", config.ffn, d);
      block.down = random_linear(config, prefix + "down", d, config.ffn);
      block.ffn_norm = fresh_norm(d);
    }
    model->blocks.push_back(std::move(block));
  }
  if (config.norm == Norm::pre) model->final_norm = fresh_norm(d);
  return model;
}

Vector random_embedding(const Config& config, std::string_view token_text) {
  Random stream(derive_seed(derive_seed(config.seed, "embedding"), token_text));
  Vector vector(config.d_model);
  for (Index i = 0; i < vector.size(); ++i) vector(i) = stream.symmetric(std::sqrt(3.0f));
  return vector;
}

}  // namespace headlight
