// Decoders: GPT-2 (Radford et al. 2019), and Llama (Touvron et al. 2023) with those that are built as it is: Mistral,
// Qwen2, Qwen3.
#include "read/hub/families.h"
#include "read/hub/rope.h"

namespace headlight {
namespace {

/// Layers of which some see no further back than a window: texts within it are what they would be without.
void read_window(Keyed& keyed, Family family, HubConfig& hub) {
  if (family == Family::llama) return;
  bool some = family == Family::mistral;
  if (!some && keyed.flag({"use_sliding_window"}, false))
    some = keyed.size({"max_window_layers"}, kMaxLayers * 16, 28, 0) < hub.config.num_layers;
  if (const nlohmann::json* types = keyed.find({"layer_types"}); types && types->is_array())
    for (const nlohmann::json& type : *types)
      some = some || (type.is_string() && type.get_ref<const std::string&>() == "sliding_attention");
  if (!some || keyed.is_null("sliding_window")) return;
  const Index window = keyed.size({"sliding_window"}, Index{1} << 30, 4096);
  if (!hub.longest || window < hub.longest->tokens) hub.longest = LongestText{window, "the model's sliding window"};
}

Index kv_heads(Keyed& keyed, Family family, Index heads) {
  // What a file means that does not say it.
  const Index unsaid = family == Family::mistral ? 8 : family == Family::llama ? heads : 32;
  return keyed.size({"num_key_value_heads"}, kMaxHeads, keyed.is_null("num_key_value_heads") ? heads : unsaid);
}

}  // namespace

HubConfig gpt2_config(Keyed& keyed) {
  HubConfig hub;
  hub.vocabulary = keyed.size({"vocab_size"}, kMaxVocabulary);
  hub.positions = keyed.size({"n_positions", "max_position_embeddings", "n_ctx"}, kMaxPositions);
  hub.norm_epsilon = static_cast<float>(keyed.number({"layer_norm_epsilon"}, 0, 1, 1e-5));
  keyed.only({"scale_attn_weights"}, true);
  keyed.only({"scale_attn_by_inverse_layer_idx"}, false);
  keyed.only({"add_cross_attention"}, false);
  const Index d_model = keyed.size({"n_embd", "hidden_size"}, kMaxDModel);
  hub.config = {.arch = Arch::decoder,
                .d_model = d_model,
                .num_heads = keyed.size({"n_head", "num_attention_heads"}, kMaxHeads),
                .num_layers = keyed.size({"n_layer", "num_hidden_layers"}, kMaxLayers),
                .ffn = keyed.size({"n_inner"}, kMaxFfn, 4 * d_model),
                .position = Position::learned,
                .norm = Norm::pre,
                .activation = keyed.activation({"activation_function"}, "gelu_new"),
                .tied = keyed.flag({"tie_word_embeddings"}, true)};
  check_heads(keyed, {"n_head"}, hub.config.num_heads, d_model);
  hub.output = output_layer(keyed, {"GPT2LMHeadModel", "GPT2DoubleHeadsModel"}, OutputLayer::required);
  return hub;
}

HubConfig llama_config(Keyed& keyed, Family family) {
  HubConfig hub;
  hub.vocabulary = keyed.size({"vocab_size"}, kMaxVocabulary);
  hub.norm_epsilon = static_cast<float>(keyed.number({"rms_norm_eps"}, 0, 1, 1e-6));
  const Index heads = keyed.size({"num_attention_heads"}, kMaxHeads);
  const bool attention_bias =
      (family == Family::llama || family == Family::qwen3) && keyed.flag({"attention_bias"}, false);
  const bool input_bias = attention_bias || family == Family::qwen2;
  const Index unsaid_width = family == Family::qwen3 && !keyed.is_null("head_dim") ? 128 : 0;
  hub.config = {.arch = Arch::decoder,
                .d_model = keyed.size({"hidden_size"}, kMaxDModel),
                .num_heads = heads,
                .num_kv_heads = kv_heads(keyed, family, heads),
                .head_dim = keyed.size({"head_dim"}, kMaxHeadDim, unsaid_width),
                .num_layers = keyed.size({"num_hidden_layers"}, kMaxLayers),
                .ffn = keyed.size({"intermediate_size"}, kMaxFfn),
                .position = Position::rotary,
                .norm = Norm::pre,
                .norm_kind = NormKind::rms_norm,
                .activation = keyed.activation({"hidden_act"}, "silu"),
                .gated = true,
                .bias = {.query = input_bias,
                         .key = input_bias,
                         .value = input_bias,
                         .output = attention_bias,
                         .ffn = family == Family::llama && keyed.flag({"mlp_bias"}, false)},
                .tied = keyed.flag({"tie_word_embeddings"}, false)};
  if (hub.config.head_dim == 0) check_heads(keyed, {"num_attention_heads"}, heads, hub.config.d_model);
  if (heads % hub.config.num_kv_heads != 0)
    keyed.fail({"num_key_value_heads"}, "a divisor of the " + std::to_string(heads) + " attention heads",
               std::to_string(hub.config.num_kv_heads));
  hub.head_norms = family == Family::qwen3;
  read_rope(keyed, hub);
  read_window(keyed, family, hub);
  hub.output = output_layer(keyed, {"LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM"},
                            OutputLayer::required);
  return hub;
}

}  // namespace headlight
