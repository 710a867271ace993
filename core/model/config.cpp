#include "model/config.h"

#include <cstdlib>
#include <type_traits>

#include "model/config_fields.h"

namespace headlight {
namespace {

Status check_range(std::string_view what, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return Done{};
  return bad_input("model", what, std::to_string(least) + " to " + std::to_string(most), std::to_string(value));
}

}  // namespace

Status check(const Config& config, std::int64_t most_parameters) {
  Status sizes = Done{};
  for_each_field([&](const auto& field) {
    if constexpr (std::is_same_v<decltype(field), const SizeField&>)
      if (sizes) sizes = check_range(field.name, config.*field.value, field.least, field.most);
  });
  if (!sizes) return sizes;
  if (!(config.softcap >= 0 && config.softcap <= kMaxSoftcap))
    return bad_input("model", "softcap", "0 to 1000000", std::to_string(config.softcap));
  if (config.head_dim == 0 && config.d_model % config.num_heads != 0)
    return bad_input("model", "num_heads", "a divisor of d_model " + std::to_string(config.d_model),
                     std::to_string(config.num_heads), ErrorCode::heads_divide);
  if (config.num_heads % config.kv_heads() != 0)
    return bad_input("model", "num_kv_heads", "a divisor of num_heads " + std::to_string(config.num_heads),
                     std::to_string(config.kv_heads()), ErrorCode::heads_divide);
  if (config.position == Position::rotary && config.rotary_columns == 0 && config.d_k() % 2 != 0)
    return bad_input("model", "rotary positions", "an even d_k", std::to_string(config.d_k()));
  if (config.position == Position::rotary && (config.rotary_columns % 2 != 0 || config.rotary_columns > config.d_k()))
    return bad_input("model", "rotary_columns", "an even number of the " + std::to_string(config.d_k()) + " of a head",
                     std::to_string(config.rotary_columns));
  const std::int64_t attention =
      std::int64_t{2} * config.d_model * config.d_k() * (config.num_heads + config.kv_heads());
  const std::int64_t ffn = std::int64_t{config.gated ? 3 : 2} * config.d_model * config.ffn;
  std::int64_t parameters = config.num_layers * (attention + ffn);
  if (config.arch == Arch::encoder_decoder)
    parameters += config.num_layers * attention + config.layers_of_encoder() * (attention + ffn);
  return check_range("parameters", parameters, 1, most_parameters);
}

std::string_view name(Arch arch) { return name_in(kArchNames, arch); }
std::string_view name(Position position) { return name_in(kPositionNames, position); }
std::string_view name(Norm norm) { return name_in(kNormNames, norm); }
std::string_view name(NormKind kind) { return name_in(kNormKindNames, kind); }
std::string_view name(Activation activation) { return name_in(kActivationNames, activation); }

Index nearest_divisor(Index d_model, Index wanted, Index most) {
  Index best = 1;
  for (Index heads = 2; heads <= most && heads <= d_model; ++heads)
    if (d_model % heads == 0 && std::abs(heads - wanted) < std::abs(best - wanted)) best = heads;
  return best;
}

}  // namespace headlight
