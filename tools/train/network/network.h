// A model while it is trained: all its numbers in one flat array, so that gradients, moments and checkpoints are flat
// arrays of the same layout.
#pragma once

#include <string>
#include <vector>

#include "base/pages.h"
#include "base/result.h"
#include "model/weights.h"

namespace headlight {

/// A weight or a bias by its name, and its offset in the flat array.
struct Parameter {
  std::string name;  // "layer.0.query.weight"; of an encoder-decoder "encoder.layer.0…", "decoder.layer.0…"
  Index offset = 0, rows = 0, cols = 0;
  bool decays = false;  // matrices do; biases and norms do not

  Index size() const { return rows * cols; }
};

/// Offsets in the flat array; −1 where there is none.
struct LinearOffsets {
  Index out = 0, in = 0;
  Index weight = -1, bias = -1;  // (out, in), (out)
};
struct NormOffsets {
  Index scale = -1, shift = -1;  // (d_model)
};
struct AttentionOffsets {
  LinearOffsets projections;  // query, key and value, one below the other, so that one product makes all three;
                              // of a cross-attention the query only
  LinearOffsets memory;       // key and value of a cross-attention
  LinearOffsets output;
};
struct BlockOffsets {
  AttentionOffsets self = {}, cross = {};
  NormOffsets attention_norm = {}, cross_norm = {}, ffn_norm = {};
  LinearOffsets up = {}, down = {};
  bool has_cross = false, has_ffn = false;
};
struct StackOffsets {
  Index positions = -1;  // (positions, d_model) learned
  std::vector<BlockOffsets> blocks;
  NormOffsets final_norm;
};

struct Network {
  Config config;
  Index words = 0;            // rows of the token table and of the output layer
  Index longest = 0;          // rows of learned positions: the longest sentence; 0 where they are not learned
  float embedding_scale = 1;  // multiplies the token vectors
  float epsilon = 1e-5f;      // of the norms

  std::vector<Parameter> parameters;  // in the order of the array, without gaps
  Index tokens = 0;                   // (words, d_model), shared by the stacks of an encoder-decoder
  Index output_weight = 0;            // the same offset where the two are tied
  Index output_bias = -1;             // (words)
  StackOffsets main, encoder;         // `encoder`: of an encoder-decoder, else empty

  Floats values;

  Index size() const { return static_cast<Index>(values.size()); }
};

/// An Error naming the first thing about the configuration that cannot be trained here: rotary positions, shared key
/// heads, gated feed-forward, activations other than relu and gelu, projections of which only some have a bias.
Status check_trainable(const Config& config);

/// A network with fresh weights, drawn from config.seed: token vectors uniform with variance 1/d_model, which
/// embedding_scale = sqrt(d_model) brings to 1; projections Xavier-uniform (Glorot & Bengio 2010), in pre-norm stacks
/// the two that end in the residual stream smaller by sqrt(2·layers) (Radford et al. 2019, section 2.3); biases 0.
/// `longest`: the longest sentence, where positions are learned. The configuration must be trainable.
Network fresh_network(const Config& config, Index words, Index longest = 512);

/// The network as a model that answers; without a vocabulary and a name. A copy: the network may go on changing.
Model model_of(const Network& network);

/// The other way: an Error names what about the model cannot be trained here: besides check_trainable(), anything that
/// a fresh network does not have, and shapes that contradict the configuration.
Result<Network> network_of(const Model& model);

}  // namespace headlight
