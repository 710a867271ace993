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
      {"decoder.final_layer_norm", Field::final_norm},
      {"/score.*", Field::unused},
      {"/qa_outputs.*", Field::unused},
  };
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

Rows llama_names(const HubConfig& hub, bool with_output) {
  const Biases& bias = hub.config.bias;
  const bool fused = hub.family == Family::phi3;
  Rows rows = {
      {"embed_tokens.weight", Field::tokens},
      rms_norm_row("layers.{layer}.input_layernorm", Field::attention_norm),
  };
  if (fused) append(rows, {linear_row("layers.{layer}.self_attn.qkv_proj", Field::query_key_value, bias.query)});
  else
    append(rows, {linear_row("layers.{layer}.self_attn.q_proj", Field::query, bias.query),
                  linear_row("layers.{layer}.self_attn.k_proj", Field::key, bias.key),
                  linear_row("layers.{layer}.self_attn.v_proj", Field::value, bias.value)});
  append(rows, {linear_row("layers.{layer}.self_attn.o_proj", Field::attention_output, bias.output),
                rms_norm_row("layers.{layer}.post_attention_layernorm", Field::ffn_norm)});
  if (fused) append(rows, {linear_row("layers.{layer}.mlp.gate_up_proj", Field::gate_up, bias.ffn)});
  else
    append(rows, {linear_row("layers.{layer}.mlp.gate_proj", Field::gate, bias.ffn),
                  linear_row("layers.{layer}.mlp.up_proj", Field::up, bias.ffn)});
  append(rows, {
                   linear_row("layers.{layer}.mlp.down_proj", Field::down, bias.ffn),
                   rms_norm_row("norm", Field::final_norm),
                   {"rotary_emb.inv_freq", Field::derived},
                   {"layers.{layer}.self_attn.rotary_emb.inv_freq", Field::derived},
                   {"/score.*", Field::unused},
                   {"/qa_outputs.*", Field::unused},
                   {"/classifier.*", Field::unused},
               });
  if (hub.head_norms)
    append(rows, {rms_norm_row("layers.{layer}.self_attn.q_norm", Field::query_norm),
                  rms_norm_row("layers.{layer}.self_attn.k_norm", Field::key_norm)});
  add_output_weight(rows, rows.front(), "/lm_head.weight", hub, with_output);
  return rows;
}

}  // namespace headlight
