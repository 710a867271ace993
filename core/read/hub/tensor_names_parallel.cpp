#include "read/hub/tensor_name_tables.h"

namespace headlight {
namespace {

/// The masks and rotations that older files store.
void append_derived(Rows& rows, std::string_view mask, std::string_view masked, std::string_view rotation) {
  append(rows, {{mask, Field::derived}, {masked, Field::derived}, {rotation, Field::derived}});
}

}  // namespace

Rows gpt_neox_names(const HubConfig& hub, bool with_output) {
  const Biases& bias = hub.config.bias;
  Rows rows = {
      {"embed_in.weight", Field::tokens},
      {"layers.{layer}.input_layernorm", Field::attention_norm},
      linear_row("layers.{layer}.attention.query_key_value", Field::heads_together, bias.query),
      linear_row("layers.{layer}.attention.dense", Field::attention_output, bias.output),
      {"layers.{layer}.post_attention_layernorm", Field::ffn_norm},
      {"layers.{layer}.mlp.dense_h_to_4h", Field::up},
      {"layers.{layer}.mlp.dense_4h_to_h", Field::down},
      {"final_layer_norm", Field::final_norm},
  };
  append_derived(rows, "layers.{layer}.attention.bias", "layers.{layer}.attention.masked_bias",
                 "layers.{layer}.attention.rotary_emb.inv_freq");
  append_other_heads(rows);
  add_output_weight(rows, rows.front(), "/embed_out.weight", hub, with_output);
  return rows;
}

Rows gptj_names(const HubConfig& hub, bool with_output) {
  Rows rows = {
      {"wte.weight", Field::tokens},
      {"h.{layer}.ln_1", Field::attention_norm},
      linear_row("h.{layer}.attn.q_proj", Field::query, false),
      linear_row("h.{layer}.attn.k_proj", Field::key, false),
      linear_row("h.{layer}.attn.v_proj", Field::value, false),
      linear_row("h.{layer}.attn.out_proj", Field::attention_output, false),
      {"h.{layer}.mlp.fc_in", Field::up},
      {"h.{layer}.mlp.fc_out", Field::down},
      {"ln_f", Field::final_norm},
  };
  append_derived(rows, "h.{layer}.attn.bias", "h.{layer}.attn.masked_bias", "h.{layer}.attn.embed_positions");
  append_other_heads(rows);
  add_output_weight(rows, rows.front(), "/lm_head.weight", hub, with_output);
  if (with_output) append(rows, {{"/lm_head.bias", Field::output_bias}});
  return rows;
}

Rows phi_names(const HubConfig& hub, bool with_output) {
  Rows rows = {
      {"embed_tokens.weight", Field::tokens},
      {"layers.{layer}.input_layernorm", Field::attention_norm},
      {"layers.{layer}.self_attn.q_proj", Field::query},
      {"layers.{layer}.self_attn.k_proj", Field::key},
      {"layers.{layer}.self_attn.v_proj", Field::value},
      {"layers.{layer}.self_attn.dense", Field::attention_output},
      {"layers.{layer}.mlp.fc1", Field::up},
      {"layers.{layer}.mlp.fc2", Field::down},
      {"final_layernorm", Field::final_norm},
      {"layers.{layer}.self_attn.rotary_emb.inv_freq", Field::derived},
  };
  append_other_heads(rows);
  add_output_weight(rows, rows.front(), "/lm_head.weight", hub, with_output);
  if (with_output) append(rows, {{"/lm_head.bias", Field::output_bias}});
  return rows;
}

Rows falcon_names(const HubConfig& hub, bool with_output) {
  const Biases& bias = hub.config.bias;
  Rows rows = {
      {"word_embeddings.weight", Field::tokens},
      linear_row("h.{layer}.self_attention.query_key_value", Field::heads_together, bias.query),
      linear_row("h.{layer}.self_attention.dense", Field::attention_output, bias.output),
      linear_row("h.{layer}.mlp.dense_h_to_4h", Field::up, bias.ffn),
      linear_row("h.{layer}.mlp.dense_4h_to_h", Field::down, bias.ffn),
      {"ln_f", Field::final_norm},
      {"h.{layer}.self_attention.rotary_emb.inv_freq", Field::derived},
      {"h.{layer}.self_attention.maybe_rotary.inv_freq", Field::derived},
  };
  if (hub.two_norms)
    append(rows, {{"h.{layer}.ln_attn", Field::attention_norm}, {"h.{layer}.ln_mlp", Field::ffn_norm}});
  else append(rows, {{"h.{layer}.input_layernorm", Field::attention_norm}});
  if (!hub.parallel) append(rows, {{"h.{layer}.post_attention_layernorm", Field::ffn_norm}});
  append_other_heads(rows);
  add_output_weight(rows, rows.front(), "/lm_head.weight", hub, with_output);
  return rows;
}

}  // namespace headlight
