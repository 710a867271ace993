// Decoders: GPT-2 (Radford et al. 2019), OPT (Zhang et al. 2022), BLOOM (Le Scao et al. 2022), and Llama (Touvron et al.
// 2023) with those that are built as it is: Mistral, Mixtral, Qwen2, Qwen3 and their mixtures of experts, Gemma 1 to 3,
// OLMo 2 (OLMo Team 2025), Phi-3 (Abdin et al. 2024).
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "read/hub/families.h"
#include "read/hub/rope.h"

namespace headlight {
namespace {

bool is_gemma(Family family) { return family == Family::gemma || family == Family::gemma2 || family == Family::gemma3; }
bool is_qwen(Family family) {
  return family == Family::qwen2 || family == Family::qwen3 || family == Family::qwen2_moe ||
         family == Family::qwen3_moe;
}

/// Whether a layer sees no further back than the window, where the file has no list of layers.
bool is_windowed(Keyed& keyed, Family family, Index layer) {
  if (family == Family::gemma2) return layer % 2 == 0;
  if (family == Family::gemma3) return (layer + 1) % keyed.size({"sliding_window_pattern"}, kMaxLayers, 6) != 0;
  if (!is_qwen(family)) return family == Family::mistral || family == Family::mixtral || family == Family::phi3;
  return keyed.flag({"use_sliding_window"}, false) &&
         layer >= keyed.size({"max_window_layers"}, kMaxLayers * 16, 28, 0);
}

/// The window of each layer: those keys are seen that are nearer than it.
void read_windows(Keyed& keyed, Family family, HubConfig& hub) {
  if (family == Family::llama || family == Family::gemma || family == Family::olmo2) return;
  const bool unsaid = !keyed.find({"sliding_window"});
  if (keyed.is_null("sliding_window") || (unsaid && (family == Family::phi3 || family == Family::mixtral))) return;
  const Index window = keyed.size({"sliding_window"}, Index{1} << 30, 4096);
  const auto layers = static_cast<std::size_t>(hub.config.num_layers);
  std::vector<Index> windows(layers, 0);
  const nlohmann::json* types = keyed.find({"layer_types"});
  if (types && (!types->is_array() || types->size() != layers))
    return keyed.fail({"layer_types"}, "a list of " + std::to_string(layers), found_text(*types));
  for (std::size_t layer = 0; layer < layers; ++layer) {
    bool windowed = is_windowed(keyed, family, static_cast<Index>(layer));
    if (types) {
      const nlohmann::json& type = (*types)[layer];
      windowed = type == "sliding_attention";
      if (!windowed && type != "full_attention")
        return keyed.fail({"layer_types"}, "full_attention or sliding_attention", found_text(type));
    }
    windows[layer] = windowed ? window : 0;
  }
  if (std::any_of(windows.begin(), windows.end(), [](Index one) { return one > 0; })) hub.windows = std::move(windows);
}

Index kv_heads(Keyed& keyed, Family family, Index heads) {
  // The default of a file without the key.
  Index unsaid = heads;
  switch (family) {
    case Family::mistral:
    case Family::mixtral: unsaid = 8; break;
    case Family::gemma:
    case Family::qwen2_moe: unsaid = 16; break;
    case Family::gemma2:
    case Family::gemma3:
    case Family::qwen3_moe: unsaid = 4; break;
    case Family::qwen2:
    case Family::qwen3: unsaid = 32; break;
    default: break;
  }
  return keyed.size({"num_key_value_heads"}, kMaxHeads, keyed.is_null("num_key_value_heads") ? heads : unsaid);
}

/// A number that null switches off.
float cap(Keyed& keyed, const char* key, double unsaid) {
  return keyed.is_null(key) ? 0.0f : static_cast<float>(keyed.number({key}, 0, 1e6, unsaid));
}

/// Gemma 2 (Gemma Team 2024, section 2) and 3 (Gemma Team 2025, section 2).
void read_gemma(Keyed& keyed, Family family, HubConfig& hub) {
  hub.norms_store_rest = true;
  hub.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(hub.config.d_model)));
  if (family == Family::gemma) return;
  const bool second = family == Family::gemma2;
  hub.attention_scale = static_cast<float>(1.0 / std::sqrt(keyed.number({"query_pre_attn_scalar"}, 1e-3, 1e6, 256)));
  hub.config.softcap = cap(keyed, "attn_logit_softcapping", second ? 50 : 0);
  hub.output_softcap = cap(keyed, "final_logit_softcapping", second ? 30 : 0);
  hub.head_norms = !second;
  keyed.only({"use_bidirectional_attention"}, false);
}

/// Mixtral (Jiang et al. 2024), Qwen2-MoE and Qwen3-MoE.
void read_experts(Keyed& keyed, Family family, HubConfig& hub) {
  const bool mixtral = family == Family::mixtral;
  if (!mixtral && family != Family::qwen2_moe && family != Family::qwen3_moe) return;
  constexpr Index kMostExperts = 4096;
  hub.experts = keyed.size({mixtral ? "num_local_experts" : "num_experts"}, kMostExperts, mixtral ? 8 : 60);
  hub.chosen_experts = keyed.size({"num_experts_per_tok"}, hub.experts, mixtral ? 2 : 4);
  hub.experts_to_one = mixtral || keyed.flag({"norm_topk_prob"}, false);
  hub.expert_ffn = mixtral ? hub.config.ffn : keyed.size({"moe_intermediate_size"}, kMaxFfn);
  if (family == Family::qwen2_moe) hub.shared_ffn = keyed.size({"shared_expert_intermediate_size"}, kMaxFfn);
  hub.config.ffn = hub.expert_ffn;
  if (mixtral) return;
  if (keyed.size({"decoder_sparse_step"}, kMaxLayers, 1) != 1)
    keyed.fail({"decoder_sparse_step"}, "1: experts in every layer", "more");
  if (const auto* layers = keyed.find({"mlp_only_layers"}); layers && !layers->empty())
    keyed.fail({"mlp_only_layers"}, "none: experts in every layer", "some");
}

}  // namespace

HubConfig gpt2_config(Keyed& keyed) {
  HubConfig hub = begin_config(keyed, {"layer_norm_epsilon"}, 1e-5);
  hub.positions = keyed.size({"n_positions", "max_position_embeddings", "n_ctx"}, kMaxPositions);
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
  // The model of 350 million parameters alone has its norms behind the sums, and token vectors of another width.
  hub.final_norms = keyed.flag({"do_layer_norm_before"}, true);
  keyed.only({"_remove_final_layer_norm"}, false);
  keyed.only({"layer_norm_elementwise_affine"}, true);
  const bool bias = keyed.flag({"enable_bias"}, true);
  const Index d_model = keyed.size({"hidden_size"}, kMaxDModel);
  const Index width = keyed.size({"word_embed_proj_dim"}, kMaxDModel, d_model);
  if (width != d_model) hub.token_width = width;
  hub.config = {.arch = Arch::decoder,
                .d_model = d_model,
                .num_heads = keyed.size({"num_attention_heads"}, kMaxHeads),
                .num_layers = keyed.size({"num_hidden_layers"}, kMaxLayers),
                .ffn = keyed.size({"ffn_dim"}, kMaxFfn),
                .position = Position::learned,
                .norm = hub.final_norms ? Norm::pre : Norm::post,
                .activation = keyed.activation({"activation_function"}, "relu"),
                .bias = {.query = bias, .key = bias, .value = bias, .output = bias, .ffn = bias},
                .tied = keyed.flag({"tie_word_embeddings"}, true)};
  check_heads(keyed, {"num_attention_heads"}, hub.config.num_heads, d_model);
  hub.output = output_layer(keyed, {"OPTForCausalLM"}, OutputLayer::required);
  return hub;
}

HubConfig bloom_config(Keyed& keyed) {
  HubConfig hub = begin_config(keyed, {"layer_norm_epsilon"}, 1e-5);
  hub.linear_biases = true;
  limit_linear_biases(hub);
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
  const bool gemma = is_gemma(family), olmo = family == Family::olmo2, mixtral = family == Family::mixtral;
  // The text of a Gemma 3 that reads pictures says only what differs from the defaults.
  const auto unsaid = [&](Index size) { return family == Family::gemma3 ? std::optional(size) : std::nullopt; };
  hub.vocabulary = keyed.size({"vocab_size"}, kMaxVocabulary, unsaid(262208));
  hub.norm_epsilon = static_cast<float>(keyed.number({"rms_norm_eps"}, 0, 1, olmo || mixtral ? 1e-5 : 1e-6));
  const Index heads = keyed.size({"num_attention_heads"}, kMaxHeads, unsaid(8));
  const bool attention_bias =
      (family == Family::llama || family == Family::qwen3 || family == Family::qwen3_moe || gemma || olmo) &&
      keyed.flag({"attention_bias"}, false);
  const bool input_bias =
      attention_bias || family == Family::qwen2 || (family == Family::qwen2_moe && keyed.flag({"qkv_bias"}, true));
  const Index unsaid_width = keyed.is_null("head_dim") ? 0 : family == Family::qwen3 ? 128 : gemma ? 256 : 0;
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
  if (hub.config.head_dim == 0) check_heads(keyed, {"num_attention_heads"}, heads, hub.config.d_model);
  if (heads % hub.config.num_kv_heads != 0)
    keyed.fail({"num_key_value_heads"}, "a divisor of the " + std::to_string(heads) + " attention heads",
               std::to_string(hub.config.num_kv_heads));
  hub.head_norms = family == Family::qwen3 || family == Family::qwen3_moe;
  hub.wide_head_norms = olmo;
  if (gemma) read_gemma(keyed, family, hub);
  read_experts(keyed, family, hub);
  const auto share = family == Family::phi3 ? std::optional<double>(1) : std::nullopt;
  read_rope(keyed, hub, mixtral || family == Family::gemma3 ? 1e6 : 10000, share);
  read_windows(keyed, family, hub);
  if (family == Family::gemma3)
    hub.window_rotary = plain_rotary(hub.config.d_k(), read_theta(keyed, "rope_local_base_freq", 10000));
  hub.output = output_layer(keyed,
                            {"LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM",
                             "GemmaForCausalLM", "Gemma2ForCausalLM", "Gemma3ForCausalLM", "Olmo2ForCausalLM",
                             "MixtralForCausalLM", "Qwen2MoeForCausalLM", "Qwen3MoeForCausalLM", "Phi3ForCausalLM"},
                            OutputLayer::required);
  return hub;
}

}  // namespace headlight
