// Decoders: GPT-2 (Radford et al. 2019), OPT (Zhang et al. 2022), BLOOM (Le Scao et al. 2022), and Llama (Touvron et al.
// 2023) with those that are built as it is: Mistral, Qwen2, Qwen3, Gemma (Gemma Team 2024), Phi-3 (Abdin et al. 2024).
#include <cmath>

#include "read/hub/families.h"
#include "read/hub/rope.h"

namespace headlight {
namespace {

/// Layers of which some see no further back than a window: texts within it are what they would be without.
void read_window(Keyed& keyed, Family family, HubConfig& hub) {
  if (family == Family::llama) return;
  bool some = family == Family::mistral || family == Family::phi3;
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
  // The default of a file without the key.
  const Index unsaid = family == Family::mistral                           ? 8
                       : family == Family::llama || family == Family::phi3 ? heads
                       : family == Family::gemma                           ? 16
                                                                           : 32;
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

HubConfig opt_config(Keyed& keyed) {
  constexpr Index kUnusedRows = 2;  // before the row of the first position
  HubConfig hub;
  hub.vocabulary = keyed.size({"vocab_size"}, kMaxVocabulary);
  hub.positions = keyed.size({"max_position_embeddings"}, kMaxPositions, 2048) + kUnusedRows;
  hub.first_position = kUnusedRows;
  // The model of 350 million parameters alone has its norms behind the sums, and tables of another width.
  keyed.only({"do_layer_norm_before"}, true);
  keyed.only({"_remove_final_layer_norm"}, false);
  keyed.only({"layer_norm_elementwise_affine"}, true);
  const bool bias = keyed.flag({"enable_bias"}, true);
  const Index d_model = keyed.size({"hidden_size"}, kMaxDModel);
  const Index width = keyed.size({"word_embed_proj_dim"}, kMaxDModel, d_model);
  if (width != d_model) keyed.fail({"word_embed_proj_dim"}, std::to_string(d_model), std::to_string(width));
  hub.config = {.arch = Arch::decoder,
                .d_model = d_model,
                .num_heads = keyed.size({"num_attention_heads"}, kMaxHeads),
                .num_layers = keyed.size({"num_hidden_layers"}, kMaxLayers),
                .ffn = keyed.size({"ffn_dim"}, kMaxFfn),
                .position = Position::learned,
                .norm = Norm::pre,
                .activation = keyed.activation({"activation_function"}, "relu"),
                .bias = {.query = bias, .key = bias, .value = bias, .output = bias, .ffn = bias},
                .tied = keyed.flag({"tie_word_embeddings"}, true)};
  check_heads(keyed, {"num_attention_heads"}, hub.config.num_heads, d_model);
  hub.output = output_layer(keyed, {"OPTForCausalLM"}, OutputLayer::required);
  return hub;
}

HubConfig bloom_config(Keyed& keyed) {
  // The bias goes on for ever; so many distances stand in its table.
  constexpr Index kDistances = 8192;
  HubConfig hub;
  hub.vocabulary = keyed.size({"vocab_size"}, kMaxVocabulary);
  hub.norm_epsilon = static_cast<float>(keyed.number({"layer_norm_epsilon"}, 0, 1, 1e-5));
  hub.linear_biases = true;
  hub.longest = LongestText{kDistances, "the longest for which a bias of each distance is kept"};
  keyed.only({"apply_residual_connection_post_layernorm"}, false);
  const Index d_model = keyed.size({"hidden_size", "n_embed"}, kMaxDModel);
  hub.config = {.arch = Arch::decoder,
                .d_model = d_model,
                .num_heads = keyed.size({"n_head", "num_attention_heads"}, kMaxHeads),
                .num_layers = keyed.size({"n_layer", "num_hidden_layers"}, kMaxLayers),
                .ffn = 4 * d_model,
                .position = Position::none,
                .norm = Norm::pre,
                .activation = Activation::gelu_tanh,
                .tied = keyed.flag({"tie_word_embeddings"}, true)};
  check_heads(keyed, {"n_head"}, hub.config.num_heads, d_model);
  hub.output = output_layer(keyed, {"BloomForCausalLM"}, OutputLayer::required);
  return hub;
}

HubConfig llama_config(Keyed& keyed, Family family) {
  HubConfig hub;
  hub.vocabulary = keyed.size({"vocab_size"}, kMaxVocabulary);
  hub.norm_epsilon = static_cast<float>(keyed.number({"rms_norm_eps"}, 0, 1, 1e-6));
  const Index heads = keyed.size({"num_attention_heads"}, kMaxHeads);
  const bool attention_bias = (family == Family::llama || family == Family::qwen3 || family == Family::gemma) &&
                              keyed.flag({"attention_bias"}, false);
  const bool input_bias = attention_bias || family == Family::qwen2;
  const Index unsaid_width = keyed.is_null("head_dim") ? 0
                             : family == Family::qwen3 ? 128
                             : family == Family::gemma ? 256
                                                       : 0;
  const bool gemma = family == Family::gemma;
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
                // Gemma's older key says gelu and means the approximation by tanh.
                .activation = gemma ? keyed.activation({"hidden_activation"}, "gelu_pytorch_tanh")
                                    : keyed.activation({"hidden_act"}, "silu"),
                .gated = true,
                .bias = {.query = input_bias,
                         .key = input_bias,
                         .value = input_bias,
                         .output = attention_bias,
                         .ffn = family == Family::llama && keyed.flag({"mlp_bias"}, false)},
                .tied = keyed.flag({"tie_word_embeddings"}, gemma)};
  hub.norms_store_rest = gemma;
  if (gemma) hub.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(hub.config.d_model)));
  if (hub.config.head_dim == 0) check_heads(keyed, {"num_attention_heads"}, heads, hub.config.d_model);
  if (heads % hub.config.num_kv_heads != 0)
    keyed.fail({"num_key_value_heads"}, "a divisor of the " + std::to_string(heads) + " attention heads",
               std::to_string(hub.config.num_kv_heads));
  hub.head_norms = family == Family::qwen3;
  read_rope(keyed, hub);
  read_window(keyed, family, hub);
  hub.output = output_layer(keyed,
                            {"LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM",
                             "GemmaForCausalLM", "Phi3ForCausalLM"},
                            OutputLayer::required);
  return hub;
}

}  // namespace headlight
