// The learned numbers of a model. Every weight is (out, in), applied as x·Wᵀ + b, as torch.nn.Linear stores it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "model/config.h"
#include "model/tokens.h"

namespace headlight {

struct Linear {
  Matrix weight;  // (out, in); empty: the identity
  Vector bias;    // (out); empty: zero
};

struct AttentionWeights {
  Linear query, key, value;  // (H·d_k, d_model): head h owns rows h·d_k … (h+1)·d_k
  Linear output;             // W_O (d_model, H·d_k)
};

struct NormWeights {
  Vector scale, shift;  // (d_model)
  float epsilon = 1e-5f;
};

struct BlockWeights {
  AttentionWeights self;
  NormWeights attention_norm;
  Linear up, down;           // feed-forward: (ffn, d_model), (d_model, ffn)
  NormWeights ffn_norm;
};

/// Inputs that came with a tensors file in place of a sentence: somebody's own query, key and value.
struct GivenInputs {
  Matrix query;             // (T, d_model)
  Matrix key, value;        // (S, d_model)
  Tokens query_tokens, key_tokens;
};

struct Model {
  std::string name;
  Config config;
  std::vector<BlockWeights> blocks;
  std::optional<NormWeights> final_norm;    // pre-norm stacks end with one
  std::optional<GivenInputs> given;         // a tensors file: one bare attention layer, no residual, no norm
};

/// A model with fresh weights: projections Xavier-uniform (Glorot & Bengio 2010) as torch.nn.MultiheadAttention draws
/// them, biases uniform in ±1/sqrt(fan in), norms 1 and 0. Each matrix has a stream of its own, so that changing the
/// number of layers leaves the layers below as they were.
std::shared_ptr<const Model> random_model(const Config& config);

/// The vector of a word in a model with fresh weights: uniform with unit variance, seeded by the word alone, so that
/// the same word has the same vector whatever else is in the sentence.
Vector random_embedding(const Config& config, std::string_view token_text);

}  // namespace headlight
