// The shape of a model, under the names of Hugging Face and PyTorch.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/index.h"
#include "base/result.h"

namespace headlight {

enum class Arch { encoder, decoder, encoder_decoder };  // a decoder's self-attention is causal by default
/// sinusoidal: sine and cosine interleaved (Vaswani et al. 2017, section 3.5); sinusoidal_halves: all sines, then all
/// cosines, as Marian stores them; learned: a vector for each position; rotary: pairs of q and k rotated by an angle
/// that grows with the position (Su et al. 2021).
enum class Position { none, sinusoidal, sinusoidal_halves, learned, rotary };
enum class Norm { post, pre };  // after the residual sum (Vaswani et al. 2017), or before the sublayer
enum class NormKind { layer_norm, rms_norm };
enum class Activation { relu, gelu, gelu_tanh, silu, quick_gelu };

/// Which linear layers have a bias.
struct Biases {
  bool query = true, key = true, value = true, output = true, ffn = true;

  bool any() const { return query || key || value || output || ffn; }
  friend bool operator==(const Biases&, const Biases&) = default;
};

struct Config {
  Arch arch = Arch::encoder;
  Index d_model = 64;
  Index num_heads = 4;
  Index num_kv_heads = 0;    // heads of keys and values, each shared by a group of query heads; 0: as many as num_heads
  Index head_dim = 0;        // d_k; 0: d_model / num_heads
  Index num_layers = 2;      // of an encoder-decoder: the decoder's
  Index encoder_layers = 0;  // of an encoder-decoder; 0: as many as num_layers
  Index ffn = 256;           // width of the feed-forward layer; 0: none, attention and its residual only
  Position position = Position::sinusoidal;
  Index rotary_columns = 0;  // the first so many of a head's columns are rotated; 0: all
  float softcap = 0;         // scores become softcap·tanh(score / softcap) (Bello et al. 2017); 0: they stay
  bool sinks = false;        // each head has a learned logit that joins its softmax (Xiao et al. 2023)
  Norm norm = Norm::post;
  NormKind norm_kind = NormKind::layer_norm;
  Activation activation = Activation::relu;
  bool gated = false;  // feed-forward down(activation(gate(x)) * up(x)) (Shazeer 2020)
  Biases bias = {};
  bool tied = true;  // the output layer is the table of token vectors (Press & Wolf 2017)
  std::uint64_t seed = 0;

  Index d_k() const { return head_dim > 0 ? head_dim : d_model / num_heads; }
  Index kv_heads() const { return num_kv_heads > 0 ? num_kv_heads : num_heads; }
  Index rotated_columns() const { return rotary_columns > 0 ? rotary_columns : d_k(); }
  Index layers_of_encoder() const { return encoder_layers > 0 ? encoder_layers : num_layers; }
  friend bool operator==(const Config&, const Config&) = default;
};

/// The largest sizes that the controls and the command line accept.
inline constexpr float kMaxSoftcap = 1e6f;
inline constexpr Index kMaxDModel = 8192, kMaxHeads = 128, kMaxLayers = 128, kMaxFfn = 65536, kMaxHeadDim = 1024;
/// Of all projections and feed-forward layers: 2 GiB of fresh weights; of stored ones, which may stay in their file,
/// more.
inline constexpr std::int64_t kMaxParameters = std::int64_t{1} << 29, kMaxStoredParameters = std::int64_t{1} << 36;

/// An Error naming the first field that no model can have.
Status check(const Config& config, std::int64_t most_parameters = kMaxParameters);

std::string_view name(Arch arch);
std::string_view name(Position position);
std::string_view name(Norm norm);
std::string_view name(NormKind kind);
std::string_view name(Activation activation);

/// The number of heads that divides `d_model` and lies nearest to `wanted` (the smaller of two equally near).
Index nearest_divisor(Index d_model, Index wanted, Index most);

}  // namespace headlight
