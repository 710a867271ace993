#include "train/network/network.h"

#include <gtest/gtest.h>

#include <cmath>

#include "math/forward.h"
#include "math/output.h"
#include "train/network/gradients.h"
#include "train/train_reference.h"

namespace headlight::training {
namespace {

Tokens tokens_of(const Sentences& sentences, Index sentence) {
  Tokens tokens;
  for (std::int32_t t = 0; t < sentences.lengths[static_cast<std::size_t>(sentence)]; ++t) {
    Token token;
    token.id = sentences.ids[static_cast<std::size_t>(sentence * sentences.length + t)];
    token.text = std::to_string(token.id);
    tokens.tokens.push_back(token);
  }
  return tokens;
}

std::vector<Config> configs() {
  std::vector<Config> all;
  for (const Arch arch : {Arch::encoder, Arch::decoder, Arch::encoder_decoder})
    for (const Norm norm : {Norm::pre, Norm::post})
      for (const Activation activation : {Activation::relu, Activation::gelu})
        all.push_back({.arch = arch,
                       .d_model = 32,
                       .num_heads = 4,
                       .num_layers = 2,
                       .ffn = 48,
                       .norm = norm,
                       .activation = activation});
  all[0].head_dim = 16;
  all[0].norm_kind = NormKind::rms_norm;
  all[1].tied = false;
  all[1].position = Position::learned;
  all[2].position = Position::none;
  all[2].bias = {false, false, false, false, false};
  all[3].ffn = 0;
  all[4].position = Position::learned;
  all[10].encoder_layers = 3;
  all[10].position = Position::learned;
  return all;
}

// The program answers with forward(); what is trained must be the same function.
TEST(Network, ComputesWhatForwardComputes) {
  for (const Config& config : configs()) {
    const std::string name = std::string(headlight::name(config.arch)) + " " +
                             std::string(headlight::name(config.norm)) + " " +
                             std::string(headlight::name(config.activation));
    Network network = fresh_network(config, 40, 30);
    shake(network, 1, 0.1f);
    const Batch batch = drawn_batch(network, 5, 21, 6);
    Workspace workspace(2);
    const Loss found = loss(network, batch, workspace);
    const auto model = std::make_shared<const Model>(model_of(network));
    double nats = 0, weight = 0;
    for (Index sentence = 0; sentence < batch.input.count; ++sentence) {
      Request request{.model = model, .config = model->config};
      if (config.arch == Arch::encoder_decoder) {
        request.tokens = tokens_of(batch.source, sentence);
        request.target = tokens_of(batch.input, sentence);
      } else {
        request.tokens = tokens_of(batch.input, sentence);
      }
      if (config.arch != Arch::encoder) request.mask.causal = true;
      const auto trace = forward(request);
      ASSERT_TRUE(trace) << trace.error().message();
      const Index length = batch.input.lengths[static_cast<std::size_t>(sentence)];
      const Matrix logits = logit_rows(**trace, 0, length);
      for (Index t = 0; t < length; ++t) {
        const auto at = static_cast<std::size_t>(sentence * batch.input.length + t);
        if (batch.targets[at] < 0) continue;
        const auto row = logits.row(t).cast<double>();
        const double largest = row.maxCoeff(), whole = largest + std::log((row.array() - largest).exp().sum());
        nats += static_cast<double>(batch.weights[at]) * (whole - row(batch.targets[at]));
        weight += static_cast<double>(batch.weights[at]);
      }
    }
    EXPECT_NEAR(found.weight, weight, 1e-4) << name;
    EXPECT_NEAR(found.mean, nats / weight, 2e-6) << name;
  }
}

TEST(Network, BecomesAModelAndComesBack) {
  for (const Config& config : configs()) {
    Network network = fresh_network(config, 40, 30);
    shake(network, 1);
    const auto back = network_of(model_of(network));
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_TRUE(back->values == network.values);
    ASSERT_EQ(back->parameters.size(), network.parameters.size());
    for (std::size_t i = 0; i < network.parameters.size(); ++i) {
      EXPECT_EQ(back->parameters[i].name, network.parameters[i].name);
      EXPECT_EQ(back->parameters[i].offset, network.parameters[i].offset);
    }
    EXPECT_EQ(back->embedding_scale, network.embedding_scale);
    EXPECT_EQ(back->longest, network.longest);
  }
}

TEST(Network, AModelIsACopyThatStaysAsItWas) {
  Network network = fresh_network({.d_model = 8, .num_heads = 2, .num_layers = 1, .ffn = 8}, 10);
  const Model model = model_of(network);
  const float token = model.embeddings.tokens->weight(0, 0), weight = model.blocks[0].self.query.weight(0, 0);
  shake(network, 1);
  EXPECT_EQ(model.embeddings.tokens->weight(0, 0), token);
  EXPECT_EQ(model.blocks[0].self.query.weight(0, 0), weight);
  EXPECT_EQ(model.output->weight, model.embeddings.tokens);  // tied: one table
}

TEST(Network, ParametersFillTheArrayWithoutGaps) {
  for (const Config& config : configs()) {
    const Network network = fresh_network(config, 40, 30);
    Index next = 0;
    for (const Parameter& parameter : network.parameters) {
      EXPECT_EQ(parameter.offset, next) << parameter.name;
      EXPECT_EQ(parameter.decays, parameter.rows > 1) << parameter.name;
      next += parameter.size();
    }
    EXPECT_EQ(next, network.size());
  }
}

TEST(Network, IsDrawnFromItsSeedWithTheVariancesThatAreSaid) {
  const Config config{.d_model = 64, .num_heads = 4, .num_layers = 2, .ffn = 256, .norm = Norm::pre, .seed = 3};
  Config other = config;
  other.seed = 4;
  const Network network = fresh_network(config, 400);
  EXPECT_TRUE(network.values == fresh_network(config, 400).values);
  EXPECT_FALSE(network.values == fresh_network(other, 400).values);
  const auto variance = [&](const std::string& name) {
    for (const Parameter& parameter : network.parameters)
      if (parameter.name == name)
        return static_cast<double>(
                   Eigen::Map<const Vector>(network.values.data() + parameter.offset, parameter.size()).squaredNorm()) /
               static_cast<double>(parameter.size());
    return -1.0;
  };
  EXPECT_NEAR(variance("tokens") * 64, 1.0, 0.03);
  EXPECT_NEAR(variance("layer.0.query.weight") * 64, 1.0, 0.1);
  EXPECT_NEAR(variance("layer.1.output.weight") * 64 * 4, 1.0, 0.1);
  EXPECT_NEAR(variance("layer.0.up.weight") * 160, 1.0, 0.1);
  EXPECT_EQ(variance("layer.0.up.bias"), 0.0);
  EXPECT_EQ(variance("layer.1.ffn_norm.scale"), 1.0);
}

TEST(Network, RefusesWhatItCannotTrain) {
  const auto said = [](Config config) {
    const auto status = check_trainable(config);
    return status ? std::string("nothing") : status.error().message();
  };
  EXPECT_EQ(said({}), "nothing");
  EXPECT_EQ(said({.position = Position::rotary}),
            "training: position: expected none, sinusoidal or learned, found rotary");
  EXPECT_EQ(said({.activation = Activation::silu}), "training: activation: expected relu or gelu, found silu");
  EXPECT_EQ(said({.gated = true}), "training: feed-forward: expected no gate, found a gate");
  EXPECT_EQ(said({.softcap = 20}), "training: attention: expected no soft cap of the scores, found a soft cap");
  EXPECT_EQ(said({.sinks = true}), "training: attention: expected no sinks, found sinks");
  EXPECT_EQ(said({.num_heads = 4, .num_kv_heads = 2}), "training: heads of keys and values: expected 4, found 2");
  Config some;
  some.bias.key = false;
  EXPECT_EQ(said(some), "training: biases of query, key and value: expected all or none, found some");

  Model model = model_of(fresh_network({.d_model = 8, .num_heads = 2, .num_layers = 1, .ffn = 8}, 10));
  model.output->scale = 0.5f;
  const auto scaled = network_of(model);
  ASSERT_FALSE(scaled);
  EXPECT_EQ(scaled.error().message(),
            "training: output layer: expected scores straight from the hidden states, "
            "found a transform or a scale");
  model.output->scale = 1;
  model.blocks[0].up.weight.resize(9, 8);
  const auto misshapen = network_of(model);
  ASSERT_FALSE(misshapen);
  EXPECT_EQ(misshapen.error().message(), "training: layer.0.up.weight: expected 8 by 8, found 9 by 8");
  model.embeddings.tokens = nullptr;
  EXPECT_FALSE(network_of(model));
}

}  // namespace
}  // namespace headlight::training
