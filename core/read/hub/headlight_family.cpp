// The models that Headlight trains: the standard blocks, whose choices config.json spells out.
#include <array>
#include <cmath>

#include "read/hub/families.h"

namespace headlight {
namespace {

/// One of the words that name() gives for the values of an enumeration.
template <class Choice, std::size_t N>
Choice choice(Keyed& keyed, const char* key, const std::array<Choice, N>& choices, std::optional<Choice> fallback) {
  const std::string word = keyed.word({key}, fallback ? name(*fallback) : std::string_view());
  std::string known;
  for (const Choice one : choices) {
    if (word == name(one)) return one;
    known += (known.empty() ? "" : ", ") + std::string(name(one));
  }
  keyed.fail({key}, known, word.empty() ? "none" : "\"" + word + "\"");
  return choices.front();
}

}  // namespace

HubConfig headlight_config(Keyed& keyed) {
  HubConfig hub;
  hub.vocabulary = keyed.size({"vocab_size"}, kMaxVocabulary);
  hub.norm_epsilon = static_cast<float>(keyed.number({"norm_eps"}, 0, 1, 1e-5));
  Config& config = hub.config;
  config.arch = choice<Arch, 3>(keyed, "arch", {Arch::encoder, Arch::decoder, Arch::encoder_decoder}, std::nullopt);
  config.d_model = keyed.size({"hidden_size"}, kMaxDModel);
  config.num_heads = keyed.size({"num_attention_heads"}, kMaxHeads);
  config.head_dim = keyed.size({"head_dim"}, kMaxHeadDim, 0, 0);
  config.num_layers = keyed.size({"num_hidden_layers"}, kMaxLayers);
  config.encoder_layers = keyed.size({"encoder_layers"}, kMaxLayers, 0, 0);
  config.ffn = keyed.size({"intermediate_size"}, kMaxFfn, std::nullopt, 0);
  config.position = choice<Position, 3>(keyed, "position", {Position::none, Position::sinusoidal, Position::learned},
                                        Position::sinusoidal);
  config.norm = choice<Norm, 2>(keyed, "norm", {Norm::post, Norm::pre}, Norm::pre);
  config.norm_kind =
      choice<NormKind, 2>(keyed, "norm_type", {NormKind::layer_norm, NormKind::rms_norm}, NormKind::layer_norm);
  config.activation = keyed.activation({"hidden_act"}, "gelu");
  const bool biased = keyed.flag({"bias"}, true);
  config.bias = {biased, biased, biased, biased, biased};
  config.tied = keyed.flag({"tie_word_embeddings"}, true);
  config.seed = static_cast<std::uint64_t>(keyed.size({"seed"}, Index{1} << 53, 0, 0));
  if (config.position == Position::learned) hub.positions = keyed.size({"max_position_embeddings"}, kMaxPositions);
  hub.embedding_scale = static_cast<float>(keyed.number({"embedding_scale"}, 0, 1e6, 1));
  hub.encoder_heads = config.num_heads;
  hub.encoder_ffn = config.ffn;
  hub.decoder_start = keyed.size({"decoder_start_token_id"}, kMaxVocabulary, 1, 0);
  if (config.head_dim * config.num_heads == config.d_model) config.head_dim = 0;  // as it is where nobody says
  if (config.head_dim == 0) check_heads(keyed, {"num_attention_heads"}, config.num_heads, config.d_model);
  hub.output = OutputLayer::required;
  return hub;
}

}  // namespace headlight
