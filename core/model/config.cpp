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

Status check(const Config& config) {
  for (const auto& status : {check_range("d_model", config.d_model, 1, kMaxDModel),
                             check_range("num_heads", config.num_heads, 1, kMaxHeads),
                             check_range("layers", config.num_layers, 1, kMaxLayers),
                             check_range("ffn", config.ffn, 0, kMaxFfn)})
    if (!status) return status;
  const Index parameters = config.num_layers * config.d_model * (4 * config.d_model + 2 * config.ffn);
  if (const auto fits = check_range("parameters", parameters, 1, kMaxParameters); !fits) return fits;
  if (config.d_model % config.num_heads != 0)
    return bad_input("model", "num_heads", "a divisor of d_model " + std::to_string(config.d_model),
                     std::to_string(config.num_heads));
  return Done{};
}

std::string_view name(Arch arch) { return arch == Arch::encoder ? "encoder" : "decoder"; }
std::string_view name(Position position) { return position == Position::none ? "none" : "sinusoidal"; }
std::string_view name(Norm norm) { return norm == Norm::post ? "post" : "pre"; }
std::string_view name(Activation activation) { return activation == Activation::relu ? "relu" : "gelu"; }

Index nearest_divisor(Index d_model, Index wanted, Index most) {
  Index best = 1;
  for (Index heads = 2; heads <= most && heads <= d_model; ++heads)
    if (d_model % heads == 0 && std::abs(heads - wanted) < std::abs(best - wanted)) best = heads;
  return best;
}

}  // namespace headlight
