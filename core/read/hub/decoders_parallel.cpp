// Decoders whose attention and feed-forward stand side by side: GPT-J (Wang & Komatsuzaki 2021), GPT-NeoX (Black et al.
// 2022; Pythia), Falcon (Almazrouei et al. 2023), Phi-1 and 2 (Li et al. 2023).
#include <string>

#include "read/hub/families.h"
#include "read/hub/rope.h"

namespace headlight {

HubConfig gpt_neox_config(Keyed& keyed) {
  HubConfig hub = begin_config(keyed, {"layer_norm_eps"}, 1e-5);
  hub.parallel = keyed.flag({"use_parallel_residual"}, true);
  const bool bias = keyed.flag({"attention_bias"}, true);
  const Index d_model = keyed.size({"hidden_size"}, kMaxDModel);
  hub.config = {.arch = Arch::decoder,
                .d_model = d_model,
                .num_heads = keyed.size({"num_attention_heads"}, kMaxHeads),
                .num_layers = keyed.size({"num_hidden_layers"}, kMaxLayers),
                .ffn = keyed.size({"intermediate_size"}, kMaxFfn),
                .position = Position::rotary,
                .norm = Norm::pre,
                .activation = keyed.activation({"hidden_act"}, "gelu"),
                .bias = {.query = bias, .key = bias, .value = bias, .output = bias},
                .tied = keyed.flag({"tie_word_embeddings"}, false)};
  check_heads(keyed, {"num_attention_heads"}, hub.config.num_heads, d_model);
  read_rope(keyed, hub, 10000, 0.25);
  hub.output = output_layer(keyed, {"GPTNeoXForCausalLM"}, OutputLayer::required);
  return hub;
}

HubConfig gptj_config(Keyed& keyed) {
  HubConfig hub = begin_config(keyed, {"layer_norm_epsilon"}, 1e-5);
  hub.parallel = hub.one_norm = true;
  hub.longest = LongestText{keyed.size({"n_positions", "max_position_embeddings"}, kMaxPositions, 2048),
                            "the positions that the model knows"};
  const Index d_model = keyed.size({"n_embd", "hidden_size"}, kMaxDModel);
  hub.config = {.arch = Arch::decoder,
                .d_model = d_model,
                .num_heads = keyed.size({"n_head", "num_attention_heads"}, kMaxHeads),
                .num_layers = keyed.size({"n_layer", "num_hidden_layers"}, kMaxLayers),
                .ffn = keyed.size({"n_inner"}, kMaxFfn, 4 * d_model),
                .position = Position::rotary,
                .norm = Norm::pre,
                .activation = keyed.activation({"activation_function"}, "gelu_new"),
                .bias = {.query = false, .key = false, .value = false, .output = false},
                .tied = keyed.flag({"tie_word_embeddings"}, false)};
  check_heads(keyed, {"n_head"}, hub.config.num_heads, d_model);
  const Index width = hub.config.d_k(), unsaid = keyed.is_null("rotary_dim") ? width : 64;
  const Index columns = keyed.size({"rotary_dim"}, kMaxHeadDim, unsaid, 2);
  if (columns > width || columns % 2 != 0)
    keyed.fail({"rotary_dim"}, "an even number of a head's " + std::to_string(width) + " columns",
               std::to_string(columns));
  if (columns != width) hub.config.rotary_columns = columns;
  hub.rotary = plain_rotary(columns, 10000, true);
  hub.output_bias = true;
  hub.output = output_layer(keyed, {"GPTJForCausalLM"}, OutputLayer::required);
  return hub;
}

HubConfig phi_config(Keyed& keyed) {
  HubConfig hub = begin_config(keyed, {"layer_norm_eps"}, 1e-5);
  hub.parallel = hub.one_norm = true;
  keyed.only({"qk_layernorm"}, false);
  const Index d_model = keyed.size({"hidden_size"}, kMaxDModel);
  const Index heads = keyed.size({"num_attention_heads"}, kMaxHeads);
  hub.config = {.arch = Arch::decoder,
                .d_model = d_model,
                .num_heads = heads,
                .num_kv_heads = keyed.size({"num_key_value_heads"}, kMaxHeads, heads),
                .num_layers = keyed.size({"num_hidden_layers"}, kMaxLayers),
                .ffn = keyed.size({"intermediate_size"}, kMaxFfn),
                .position = Position::rotary,
                .norm = Norm::pre,
                .activation = keyed.activation({"hidden_act"}, "gelu_new"),
                .tied = keyed.flag({"tie_word_embeddings"}, false)};
  check_heads(keyed, {"num_attention_heads"}, heads, d_model);
  read_rope(keyed, hub, 10000, 0.5);
  hub.output_bias = true;
  hub.output = output_layer(keyed, {"PhiForCausalLM"}, OutputLayer::required);
  return hub;
}

HubConfig falcon_config(Keyed& keyed) {
  HubConfig hub = begin_config(keyed, {"layer_norm_epsilon"}, 1e-5);
  const bool grouped = keyed.flag({"new_decoder_architecture"}, false), shared = keyed.flag({"multi_query"}, true);
  const bool parallel = keyed.flag({"parallel_attn"}, true), bias = keyed.flag({"bias"}, false);
  // Of Falcon-RW (Penedo et al. 2023): a bias of each key's place instead of a rotation.
  hub.linear_key_biases = keyed.flag({"alibi"}, false);
  hub.two_norms = grouped && keyed.size({"num_ln_in_parallel_attn"}, 2, 2) == 2;
  if (grouped && !parallel && !hub.two_norms) keyed.fail({"parallel_attn"}, "true", "false with one norm a layer");
  hub.parallel = grouped || parallel;
  hub.one_norm = hub.parallel && !hub.two_norms;
  const Index d_model = keyed.size({"hidden_size"}, kMaxDModel);
  const Index heads = keyed.size({"num_attention_heads", "n_head"}, kMaxHeads);
  const Index kv_heads = grouped ? keyed.size({"num_kv_heads", "n_head_kv"}, kMaxHeads, heads) : shared ? 1 : heads;
  hub.config = {.arch = Arch::decoder,
                .d_model = d_model,
                .num_heads = heads,
                .num_kv_heads = kv_heads,
                .num_layers = keyed.size({"num_hidden_layers", "n_layer"}, kMaxLayers),
                .ffn = keyed.size({"ffn_hidden_size"}, kMaxFfn, 4 * d_model),
                .position = hub.linear_key_biases ? Position::none : Position::rotary,
                .norm = Norm::pre,
                .activation = keyed.activation({"activation"}, "gelu"),
                .bias = {.query = bias, .key = bias, .value = bias, .output = bias, .ffn = bias},
                .tied = keyed.flag({"tie_word_embeddings"}, true)};
  check_heads(keyed, {"num_attention_heads"}, heads, d_model);
  if (heads % kv_heads != 0)
    keyed.fail({"num_kv_heads"}, "a divisor of the " + std::to_string(heads) + " attention heads",
               std::to_string(kv_heads));
  if (hub.linear_key_biases) limit_linear_biases(hub);
  else read_rope(keyed, hub);
  hub.output = output_layer(keyed, {"FalconForCausalLM"}, OutputLayer::required);
  return hub;
}

}  // namespace headlight
