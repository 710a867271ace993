#include "model/config.h"

#include <cstdlib>
#include <string>

namespace headlight {
namespace {

Status check_range(std::string_view what, Index value, Index least, Index most) {
  if (value >= least && value <= most) return Done{};
  return bad_input("model", what, std::to_string(least) + " to " + std::to_string(most), std::to_string(value));
}

}  // namespace

Status check(const Config& config, Index most_parameters) {
  for (const auto& status :
       {check_range("d_model", config.d_model, 1, kMaxDModel), check_range("num_heads", config.num_heads, 1, kMaxHeads),
        check_range("num_kv_heads", config.num_kv_heads, 0, kMaxHeads),
        check_range("head_dim", config.head_dim, 0, kMaxHeadDim),
        check_range("layers", config.num_layers, 1, kMaxLayers),
        check_range("encoder_layers", config.encoder_layers, 0, kMaxLayers),
        check_range("ffn", config.ffn, 0, kMaxFfn)})
    if (!status) return status;
  if (config.head_dim == 0 && config.d_model % config.num_heads != 0)
    return bad_input("model", "num_heads", "a divisor of d_model " + std::to_string(config.d_model),
                     std::to_string(config.num_heads));
  if (config.num_heads % config.kv_heads() != 0)
    return bad_input("model", "num_kv_heads", "a divisor of num_heads " + std::to_string(config.num_heads),
                     std::to_string(config.kv_heads()));
  if (config.position == Position::rotary && config.d_k() % 2 != 0)
    return bad_input("model", "rotary positions", "an even d_k", std::to_string(config.d_k()));
  const Index attention = 2 * config.d_model * config.d_k() * (config.num_heads + config.kv_heads());
  const Index ffn = (config.gated ? 3 : 2) * config.d_model * config.ffn;
  Index parameters = config.num_layers * (attention + ffn);
  if (config.arch == Arch::encoder_decoder)
    parameters += config.num_layers * attention + config.layers_of_encoder() * (attention + ffn);
  return check_range("parameters", parameters, 1, most_parameters);
}

std::string_view name(Arch arch) {
  switch (arch) {
    case Arch::encoder: return "encoder";
    case Arch::decoder: return "decoder";
    case Arch::encoder_decoder: break;
  }
  return "encoder-decoder";
}

std::string_view name(Position position) {
  switch (position) {
    case Position::none: return "none";
    case Position::sinusoidal: return "sinusoidal";
    case Position::sinusoidal_halves: return "sinusoidal-halves";
    case Position::learned: return "learned";
    case Position::rotary: break;
  }
  return "rotary";
}

std::string_view name(Norm norm) { return norm == Norm::post ? "post" : "pre"; }
std::string_view name(NormKind kind) { return kind == NormKind::layer_norm ? "layer" : "rms"; }

std::string_view name(Activation activation) {
  switch (activation) {
    case Activation::relu: return "relu";
    case Activation::gelu: return "gelu";
    case Activation::gelu_tanh: return "gelu-tanh";
    case Activation::silu: break;
  }
  return "silu";
}

Index nearest_divisor(Index d_model, Index wanted, Index most) {
  Index best = 1;
  for (Index heads = 2; heads <= most && heads <= d_model; ++heads)
    if (d_model % heads == 0 && std::abs(heads - wanted) < std::abs(best - wanted)) best = heads;
  return best;
}

}  // namespace headlight
