#include "read/hub/tensor_name_tables.h"

namespace headlight {

Rows gpt2_names(const HubConfig& hub, bool with_output) {
  constexpr Form kIn = Form::transposed;  // Conv1D of transformers stores (in, out)
  Rows rows = {
      {"wte.weight", Field::tokens},
      {"wpe.weight", Field::positions},
      {"h.{layer}.ln_1", Field::attention_norm},
      {"h.{layer}.attn.c_attn", Field::query_key_value, kIn},
      {"h.{layer}.attn.c_proj", Field::attention_output, kIn},
      {"h.{layer}.ln_2", Field::ffn_norm},
      {"h.{layer}.mlp.c_fc", Field::up, kIn},
      {"h.{layer}.mlp.c_proj", Field::down, kIn},
      {"ln_f", Field::final_norm},
      {"h.{layer}.attn.bias", Field::derived},         // the causal mask
      {"h.{layer}.attn.masked_bias", Field::derived},  // what it adds to the scores
      {"/score.*", Field::unused},
      {"/multiple_choice_head.*", Field::unused},
  };
  add_output_weight(rows, rows.front(), "/lm_head.weight", hub, with_output);
  return rows;
}

Rows opt_names(const HubConfig& hub, bool with_output) {
  const Biases& bias = hub.config.bias;
  Rows rows = {
      {"decoder.embed_tokens.weight", Field::tokens},
      {"decoder.embed_positions.weight", Field::positions},
      {"decoder.layers.{layer}.self_attn_layer_norm", Field::attention_norm},
      linear_row("decoder.layers.{layer}.self_attn.q_proj", Field::query, bias.query),
      linear_row("decoder.layers.{layer}.self_attn.k_proj", Field::key, bias.key),
      linear_row("decoder.layers.{layer}.self_attn.v_proj", Field::value, bias.value),
      linear_row("decoder.layers.{layer}.self_attn.out_proj", Field::attention_output, bias.output),
      {"decoder.layers.{layer}.final_layer_norm", Field::ffn_norm},
      linear_row("decoder.layers.{layer}.fc1", Field::up, bias.ffn),
      linear_row("decoder.layers.{layer}.fc2", Field::down, bias.ffn),
      {"/score.*", Field::unused},
      {"/qa_outputs.*", Field::unused},
  };
  if (hub.final_norms) append(rows, {{"decoder.final_layer_norm", Field::final_norm}});
  if (hub.token_width > 0)
    append(rows, {linear_row("decoder.project_in", Field::token_projection, false),
                  linear_row("decoder.project_out", Field::output_projection, false)});
  add_output_weight(rows, rows.front(), "/lm_head.weight", hub, with_output);
  return rows;
}

Rows bloom_names(const HubConfig& hub, bool with_output) {
  Rows rows = {
      {"word_embeddings.weight", Field::tokens},
      {"word_embeddings_layernorm", Field::embedding_norm},
      {"h.{layer}.input_layernorm", Field::attention_norm},
      {"h.{layer}.self_attention.query_key_value", Field::heads_together},
      {"h.{layer}.self_attention.dense", Field::attention_output},
      {"h.{layer}.post_attention_layernorm", Field::ffn_norm},
      {"h.{layer}.mlp.dense_h_to_4h", Field::up},
      {"h.{layer}.mlp.dense_4h_to_h", Field::down},
      {"ln_f", Field::final_norm},
      {"/score.*", Field::unused},
      {"/classifier.*", Field::unused},
  };
  add_output_weight(rows, rows.front(), "/lm_head.weight", hub, with_output);
  return rows;
}

namespace {

/// The names of experts: as Mixtral has them, and as others do.
void append_experts(Rows& rows, const HubConfig& hub) {
  if (hub.family == Family::mixtral)
    return append(rows, {linear_row("layers.{layer}.block_sparse_moe.gate", Field::router, false),
                         linear_row("layers.{layer}.block_sparse_moe.experts.{expert}.w1", Field::expert_gate, false),
                         linear_row("layers.{layer}.block_sparse_moe.experts.{expert}.w3", Field::expert_up, false),
                         linear_row("layers.{layer}.block_sparse_moe.experts.{expert}.w2", Field::expert_down, false)});
  append(rows, {linear_row("layers.{layer}.mlp.gate", Field::router, false),
                linear_row("layers.{layer}.mlp.experts.{expert}.gate_proj", Field::expert_gate, false),
                linear_row("layers.{layer}.mlp.experts.{expert}.up_proj", Field::expert_up, false),
                linear_row("layers.{layer}.mlp.experts.{expert}.down_proj", Field::expert_down, false)});
  if (hub.shared_ffn > 0)
    append(rows, {linear_row("layers.{layer}.mlp.shared_expert.gate_proj", Field::shared_gate, false),
                  linear_row("layers.{layer}.mlp.shared_expert.up_proj", Field::shared_up, false),
                  linear_row("layers.{layer}.mlp.shared_expert.down_proj", Field::shared_down, false),
                  linear_row("layers.{layer}.mlp.shared_expert_gate", Field::shared_expert_gate, false)});
}

/// Before a sublayer; before and behind it in Gemma 2 and 3, whose name for the second is Llama's for the third; behind
/// it alone in OLMo 2.
void append_norms(Rows& rows, Family family) {
  constexpr std::string_view kInput = "layers.{layer}.input_layernorm";
  constexpr std::string_view kAttention = "layers.{layer}.post_attention_layernorm";
  constexpr std::string_view kBefore = "layers.{layer}.pre_feedforward_layernorm";
  constexpr std::string_view kAfter = "layers.{layer}.post_feedforward_layernorm";
  const bool around = family == Family::gemma2 || family == Family::gemma3, behind = family == Family::olmo2;
  if (!behind) append(rows, {rms_norm_row(kInput, Field::attention_norm)});
  if (!behind) append(rows, {rms_norm_row(around ? kBefore : kAttention, Field::ffn_norm)});
  if (around || behind)
    append(rows, {rms_norm_row(kAttention, Field::attention_after_norm), rms_norm_row(kAfter, Field::ffn_after_norm)});
}

}  // namespace

Rows llama_names(const HubConfig& hub, bool with_output) {
  const Biases& bias = hub.config.bias;
  const bool fused = hub.family == Family::phi3;
  Rows rows = {
      {"embed_tokens.weight", Field::tokens},
  };
  append_norms(rows, hub.family);
  if (fused) append(rows, {linear_row("layers.{layer}.self_attn.qkv_proj", Field::query_key_value, bias.query)});
  else
    append(rows, {linear_row("layers.{layer}.self_attn.q_proj", Field::query, bias.query),
                  linear_row("layers.{layer}.self_attn.k_proj", Field::key, bias.key),
                  linear_row("layers.{layer}.self_attn.v_proj", Field::value, bias.value)});
  append(rows, {linear_row("layers.{layer}.self_attn.o_proj", Field::attention_output, bias.output)});
  if (hub.experts > 0) append_experts(rows, hub);
  else if (fused) append(rows, {linear_row("layers.{layer}.mlp.gate_up_proj", Field::gate_up, bias.ffn)});
  else
    append(rows, {linear_row("layers.{layer}.mlp.gate_proj", Field::gate, bias.ffn),
                  linear_row("layers.{layer}.mlp.up_proj", Field::up, bias.ffn)});
  if (hub.experts == 0) append(rows, {linear_row("layers.{layer}.mlp.down_proj", Field::down, bias.ffn)});
  append(rows, {
                   rms_norm_row("norm", Field::final_norm),
                   {"rotary_emb.inv_freq", Field::derived},
                   {"layers.{layer}.self_attn.rotary_emb.inv_freq", Field::derived},
                   {"/score.*", Field::unused},
                   {"/qa_outputs.*", Field::unused},
                   {"/classifier.*", Field::unused},
               });
  if (hub.family == Family::gemma3)  // of a model that reads pictures too
    append(rows, {{"/vision_tower.*", Field::unused},
                  {"/multi_modal_projector.*", Field::unused},
                  {"/model.vision_tower.*", Field::unused},
                  {"/model.multi_modal_projector.*", Field::unused}});
  if (hub.head_norms || hub.wide_head_norms)
    append(rows, {rms_norm_row("layers.{layer}.self_attn.q_norm", Field::query_norm),
                  rms_norm_row("layers.{layer}.self_attn.k_norm", Field::key_norm)});
  add_output_weight(rows, rows.front(), "/lm_head.weight", hub, with_output);
  return rows;
}

}  // namespace headlight
