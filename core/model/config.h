// The shape of a model, under the names of Hugging Face and PyTorch.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/matrix.h"
#include "base/result.h"

namespace headlight {

enum class Arch { encoder, decoder };            // a decoder differs in its default mask: causal
enum class Position { none, sinusoidal };
enum class Norm { post, pre };                   // after the residual sum (Vaswani et al. 2017), or before the sublayer
enum class Activation { relu, gelu };

struct Config {
  Arch arch = Arch::encoder;
  Index d_model = 64;
  Index num_heads = 4;
  Index num_layers = 2;
  Index ffn = 256;          // width of the feed-forward layer; 0: none, attention and its residual only
  Position position = Position::sinusoidal;
  Norm norm = Norm::post;
  Activation activation = Activation::relu;
  bool bias = true;
  std::uint64_t seed = 0;

  Index d_k() const { return d_model / num_heads; }
  friend bool operator==(const Config&, const Config&) = default;
};

/// The limits of what the controls and the command line accept.
inline constexpr Index kMaxDModel = 8192, kMaxHeads = 128, kMaxLayers = 128, kMaxFfn = 65536;
inline constexpr Index kMaxParameters = Index{1} << 29;  // of all projections and feed-forward layers: 2 GiB

/// An Error naming the first field that no model can have.
Status check(const Config& config);

std::string_view name(Arch arch);
std::string_view name(Position position);
std::string_view name(Norm norm);
std::string_view name(Activation activation);

/// The number of heads that divides `d_model` and lies nearest to `wanted` (the smaller of two equally near).
Index nearest_divisor(Index d_model, Index wanted, Index most);

}  // namespace headlight
