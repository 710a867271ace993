#include "train/network/network.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <type_traits>

#include "base/random.h"
#include "model/weight_tree.h"

namespace headlight {
namespace {

/// Lays out one matrix or vector after another.
struct Layout {
  Network& network;
  Index next = 0;

  Index add(std::string name, Index rows, Index cols, bool decays) {
    network.parameters.push_back({std::move(name), next, rows, cols, decays});
    next += rows * cols;
    return network.parameters.back().offset;
  }
  Index vector(std::string name, Index size) { return add(std::move(name), 1, size, false); }
  Index matrix(std::string name, Index rows, Index cols) { return add(std::move(name), rows, cols, true); }

  /// Several layers over the same input, one below the other.
  LinearOffsets linear(const std::string& prefix, const std::vector<std::string>& names, Index out, Index in,
                       bool biased) {
    LinearOffsets offsets{.out = out * static_cast<Index>(names.size()), .in = in};
    for (const std::string& name : names) {
      const Index at = matrix(prefix + name + ".weight", out, in);
      if (offsets.weight < 0) offsets.weight = at;
    }
    if (!biased) return offsets;
    for (const std::string& name : names) {
      const Index at = vector(prefix + name + ".bias", out);
      if (offsets.bias < 0) offsets.bias = at;
    }
    return offsets;
  }

  NormOffsets norm(const std::string& name) {
    NormOffsets offsets{.scale = vector(name + ".scale", network.config.d_model)};
    if (network.config.norm_kind == NormKind::layer_norm)
      offsets.shift = vector(name + ".shift", network.config.d_model);
    return offsets;
  }

  AttentionOffsets attention(const std::string& prefix, bool cross) {
    const Config& config = network.config;
    const Index d = config.d_model, heads = config.num_heads * config.d_k();
    AttentionOffsets offsets;
    if (cross) {
      offsets.projections = linear(prefix, {"query"}, heads, d, config.bias.query);
      offsets.memory = linear(prefix, {"key", "value"}, heads, d, config.bias.query);
    } else {
      offsets.projections = linear(prefix, {"query", "key", "value"}, heads, d, config.bias.query);
    }
    offsets.output = linear(prefix, {"output"}, d, heads, config.bias.output);
    return offsets;
  }

  StackOffsets stack(const std::string& prefix, Index layers, bool cross) {
    const Config& config = network.config;
    StackOffsets stack;
    if (config.position == Position::learned)
      stack.positions = matrix(prefix + "positions", network.longest, config.d_model);
    for (Index layer = 0; layer < layers; ++layer) {
      const std::string name = prefix + "layer." + std::to_string(layer) + ".";
      BlockOffsets block{.has_cross = cross, .has_ffn = config.ffn > 0};
      block.self = attention(name, false);
      block.attention_norm = norm(name + "attention_norm");
      if (cross) {
        block.cross = attention(name + "cross.", true);
        block.cross_norm = norm(name + "cross_norm");
      }
      if (block.has_ffn) {
        block.up = linear(name, {"up"}, config.ffn, config.d_model, config.bias.ffn);
        block.down = linear(name, {"down"}, config.d_model, config.ffn, config.bias.ffn);
        block.ffn_norm = norm(name + "ffn_norm");
      }
      stack.blocks.push_back(block);
    }
    if (config.norm == Norm::pre) stack.final_norm = norm(prefix + "final_norm");
    return stack;
  }
};

/// Everything of a network but its numbers, which are zero.
Network laid_out(const Config& config, Index words, Index longest, bool output_bias) {
  Network network;
  network.config = config;
  network.words = words;
  network.longest = config.position == Position::learned ? longest : 0;
  network.embedding_scale = std::sqrt(static_cast<float>(config.d_model));
  Layout layout{network};
  network.tokens = layout.matrix("tokens", words, config.d_model);
  const bool two_stacks = config.arch == Arch::encoder_decoder;
  if (two_stacks) network.encoder = layout.stack("encoder.", config.layers_of_encoder(), false);
  network.main = layout.stack(two_stacks ? "decoder." : "", config.num_layers, two_stacks);
  network.output_weight = config.tied ? network.tokens : layout.matrix("output.weight", words, config.d_model);
  if (output_bias) network.output_bias = layout.vector("output.bias", words);
  network.values.assign(static_cast<std::size_t>(layout.next), 0.0f);
  return network;
}

/// Calls visit(parameter, matrix or vector of the model) for every parameter of a network in its blocks, its positions
/// and its final norm, found by their names.
class SharedParameters {
 public:
  explicit SharedParameters(const Network& network) {
    for (const Parameter& parameter : network.parameters) parameters_[parameter.name] = &parameter;
  }

  template <class Weights, class Visit>
  void visit_stack(const std::string& prefix, Weights& stack, const Visit& visit) const {
    visit_one(prefix + "positions", stack.embeddings.positions, visit);
    for (std::size_t number = 0; number < stack.blocks.size(); ++number)
      for_each_layer(stack.blocks[number], [&](const LayerName& name, auto& layer) {
        visit_layer(prefix + "layer." + std::to_string(number) + "." + name.name, layer, visit);
      });
    if (stack.final_norm) visit_layer(prefix + "final_norm", *stack.final_norm, visit);
  }
  /// Nothing where the network has no parameter of this name.
  template <class Weights, class Visit>
  void visit_one(const std::string& name, Weights&& weights, const Visit& visit) const {
    if (const auto found = parameters_.find(name); found != parameters_.end()) visit(*found->second, weights);
  }

 private:
  template <class Layer, class Visit>
  void visit_layer(const std::string& name, Layer& layer, const Visit& visit) const {
    if constexpr (std::is_same_v<std::remove_const_t<Layer>, NormWeights>) {
      visit_one(name + ".scale", layer.scale, visit);
      visit_one(name + ".shift", layer.shift, visit);
    } else {
      if constexpr (std::is_const_v<Layer>) visit_one(name + ".weight", weight_rows(layer, 0, layer.outputs()), visit);
      else visit_one(name + ".weight", layer.weight, visit);
      visit_one(name + ".bias", layer.bias, visit);
    }
  }

  std::map<std::string, const Parameter*> parameters_;
};

std::string main_prefix(const Network& network) {
  return network.config.arch == Arch::encoder_decoder ? "decoder." : "";
}

NormWeights empty_norm(const Network& network) {
  return {.scale = {}, .shift = {}, .epsilon = network.epsilon, .kind = network.config.norm_kind};
}

/// The blocks of a model of this shape, without numbers.
void shape_stack(const Network& network, const StackOffsets& offsets, std::shared_ptr<const Linear> tokens,
                 StackWeights& stack) {
  stack.embeddings.tokens = std::move(tokens);
  stack.embeddings.scale = network.embedding_scale;
  const auto shape = [&](AttentionWeights& attention) {
    attention.num_heads = attention.num_kv_heads = network.config.num_heads;
  };
  for (const BlockOffsets& from : offsets.blocks) {
    BlockWeights& block = stack.blocks.emplace_back();
    shape(block.self);
    block.attention_norm = block.cross_norm = block.ffn_norm = empty_norm(network);
    if (from.has_cross) shape(block.cross.emplace());
  }
  if (offsets.final_norm.scale >= 0) stack.final_norm = empty_norm(network);
}

void draw(Network& network, const Parameter& parameter) {
  const bool scale = parameter.name.ends_with("norm.scale");
  float* values = network.values.data() + parameter.offset;
  if (!parameter.decays) {
    std::fill(values, values + parameter.size(), scale ? 1.0f : 0.0f);
    return;
  }
  const Config& config = network.config;
  double variance = 2.0 / static_cast<double>(parameter.rows + parameter.cols);
  if (parameter.name == "tokens" || parameter.name == "output.weight")
    variance = 1.0 / static_cast<double>(config.d_model);
  else if (parameter.name.ends_with("positions")) variance = 0.25;
  else if (config.norm == Norm::pre &&
           (parameter.name.ends_with("output.weight") || parameter.name.ends_with("down.weight")))
    variance /= 2.0 * static_cast<double>(config.num_layers);
  const auto limit = static_cast<float>(std::sqrt(3.0 * variance));
  Random random(derive_seed(config.seed, parameter.name));
  for (Index i = 0; i < parameter.size(); ++i) values[i] = random.symmetric(limit);
}

Status refuse(std::string_view what, std::string_view expected, std::string_view found) {
  return bad_input("training", what, expected, found);
}

/// The parts that a fresh network does not have.
Status check_plain(const AttentionWeights& attention) {
  if (attention.query_norm || attention.key_norm) return refuse("attention", "no norms of q and k", "norms");
  if (attention.scale) return refuse("attention", "scores over sqrt(d_k)", "a scale of its own");
  if (attention.relative_bias) return refuse("attention", "no relative bias", "a relative bias");
  if (attention.softcap > 0) return refuse("attention", "no soft cap of the scores", "a soft cap");
  if (attention.sinks.size() > 0) return refuse("attention", "no sinks", "sinks");
  return Done{};
}

Status check_plain(const StackWeights& stack, const std::shared_ptr<const Linear>& tokens) {
  const Embeddings& embeddings = stack.embeddings;
  if (!embeddings.tokens) return refuse("token vectors", "a table", "vectors drawn from the words");
  if (embeddings.tokens != tokens) return refuse("token vectors", "one table for both stacks", "two");
  if (embeddings.first_position != 0 || embeddings.pad_id)
    return refuse("positions", "rows from 0 on", "rows kept for padding");
  if (embeddings.token_types.size() > 0) return refuse("embeddings", "no token types", "token types");
  if (embeddings.norm || !embeddings.projection.is_identity())
    return refuse("embeddings", "no norm and no projection", "one of the two");
  if (stack.rotary) return refuse("position", "none, sinusoidal or learned", "rotary");
  for (const BlockWeights& block : stack.blocks) {
    TRY(check_plain(block.self));
    if (block.cross) TRY(check_plain(*block.cross));
    if (!block.ungated()) return refuse("feed-forward", "no gate", "a gate");
  }
  return Done{};
}

Status check_plain(const Model& model) {
  if (model.given) return refuse("model", "one with weights", "a tensors file");
  if (!model.output) return refuse("output layer", "one", "none");
  const OutputWeights& output = *model.output;
  if (!output.transform.is_identity() || output.transform_norm || output.scale != 1.0f)
    return refuse("output layer", "scores straight from the hidden states", "a transform or a scale");
  TRY(check_plain(model, model.embeddings.tokens));
  if (!model.encoder) return Done{};
  if (model.encoder->embeddings.scale != model.embeddings.scale)
    return refuse("token vectors", "one scale for both stacks", "two");
  return check_plain(*model.encoder, model.embeddings.tokens);
}

/// The blocks and norms that the layout is about to fill.
Status check_layers(const StackOffsets& offsets, const StackWeights& stack) {
  if (offsets.blocks.size() != stack.blocks.size())
    return refuse("layers", std::to_string(offsets.blocks.size()), std::to_string(stack.blocks.size()));
  for (std::size_t layer = 0; layer < offsets.blocks.size(); ++layer)
    if (offsets.blocks[layer].has_cross != stack.blocks[layer].cross.has_value())
      return refuse("layer " + std::to_string(layer), "cross-attention as the architecture has it", "another");
  if ((offsets.final_norm.scale >= 0) == stack.final_norm.has_value()) return Done{};
  return refuse("final norm", offsets.final_norm.scale >= 0 ? "one" : "none", stack.final_norm ? "one" : "none");
}

}  // namespace

Status check_trainable(const Config& config) {
  TRY(check(config));
  if (config.position == Position::rotary || config.position == Position::sinusoidal_halves)
    return refuse("position", "none, sinusoidal or learned", name(config.position));
  if (config.kv_heads() != config.num_heads)
    return refuse("heads of keys and values", std::to_string(config.num_heads), std::to_string(config.kv_heads()));
  if (config.softcap > 0) return refuse("attention", "no soft cap of the scores", "a soft cap");
  if (config.sinks) return refuse("attention", "no sinks", "sinks");
  if (config.gated) return refuse("feed-forward", "no gate", "a gate");
  if (config.activation != Activation::relu && config.activation != Activation::gelu)
    return refuse("activation", "relu or gelu", name(config.activation));
  if (config.bias.query != config.bias.key || config.bias.query != config.bias.value)
    return refuse("biases of query, key and value", "all or none", "some");
  return Done{};
}

Network fresh_network(const Config& config, Index words, Index longest) {
  assert(check_trainable(config));
  Network network = laid_out(config, words, longest, true);
  for (const Parameter& parameter : network.parameters) draw(network, parameter);
  return network;
}

Model model_of(const Network& network) {
  Model model;
  model.config = network.config;
  const Index d = network.config.d_model;
  const float* values = network.values.data();
  const SharedParameters shared(network);
  const auto copy = [&](const Parameter& from, auto& to) {
    to = Eigen::Map<const Matrix>(values + from.offset, from.rows, from.cols);
  };
  const auto table = [&](Index at) { return table_of(Eigen::Map<const Matrix>(values + at, network.words, d)); };
  const auto tokens = table(network.tokens);
  shape_stack(network, network.main, tokens, model);
  shared.visit_stack(main_prefix(network), static_cast<StackWeights&>(model), copy);
  if (network.config.arch == Arch::encoder_decoder) {
    StackWeights& encoder = model.encoder.emplace();
    shape_stack(network, network.encoder, tokens, encoder);
    shared.visit_stack("encoder.", encoder, copy);
  }
  OutputWeights& output = model.output.emplace();
  output.weight = network.output_weight == network.tokens ? tokens : table(network.output_weight);
  if (network.output_bias >= 0) output.bias = Eigen::Map<const Matrix>(values + network.output_bias, 1, network.words);
  return model;
}

Result<Network> network_of(const Model& model) {
  TRY(check_trainable(model.config));
  TRY(check_plain(model));
  Config config = model.config;
  const Linear &tokens = *model.embeddings.tokens, &output = *model.output->weight;
  config.tied = same_weights(output, tokens);
  Network network =
      laid_out(config, tokens.outputs(), model.embeddings.positions.rows(), model.output->bias.size() > 0);
  network.embedding_scale = model.embeddings.scale;
  network.epsilon = model.blocks.front().attention_norm.epsilon;
  TRY(check_layers(network.main, model));
  if (model.encoder) TRY(check_layers(network.encoder, *model.encoder));

  Status fits = Done{};
  const auto copy = [&](const Parameter& to, const auto& from) {
    if (from.rows() == to.rows && from.cols() == to.cols)
      std::copy(from.data(), from.data() + from.size(), network.values.data() + to.offset);
    else if (fits)
      fits = refuse(to.name, std::to_string(to.rows) + " by " + std::to_string(to.cols),
                    std::to_string(from.rows()) + " by " + std::to_string(from.cols()));
  };
  const SharedParameters shared(network);
  shared.visit_one("tokens", weight_rows(tokens, 0, tokens.outputs()), copy);
  shared.visit_stack(main_prefix(network), static_cast<const StackWeights&>(model), copy);
  if (model.encoder) shared.visit_stack("encoder.", std::as_const(*model.encoder), copy);
  shared.visit_one("output.weight", weight_rows(output, 0, output.outputs()), copy);
  shared.visit_one("output.bias", model.output->bias, copy);
  if (!fits) return fits.error();
  return network;
}

}  // namespace headlight
