#include "read/hub/tensor_name_tables.h"

namespace headlight {
namespace {

Row of_encoder(std::string_view name, Field field, bool bias = true) {
  return {.name = name, .field = field, .part = StackPart::encoder, .bias = bias};
}

void append_places(Rows& rows, const HubConfig& hub) {
  if (hub.family == Family::bart) {
    append(rows, {of_encoder("encoder.embed_positions.weight", Field::positions),
                  {"decoder.embed_positions.weight", Field::positions},
                  of_encoder("encoder.layernorm_embedding", Field::embedding_norm),
                  {"decoder.layernorm_embedding", Field::embedding_norm}});
    return;
  }
  if (hub.final_norms)
    append(rows, {of_encoder("encoder.layer_norm", Field::final_norm), {"decoder.layer_norm", Field::final_norm}});
  if (hub.family == Family::m2m_100) {
    append(rows,
           {{"encoder.embed_positions.weights", Field::derived}, {"decoder.embed_positions.weights", Field::derived}});
    return;
  }
  // Sines and cosines, which older files store and newer ones leave out.
  append(rows, {{.name = "encoder.embed_positions.weight",
                 .field = Field::positions,
                 .part = StackPart::encoder,
                 .need = Need::optional},
                {.name = "decoder.embed_positions.weight", .field = Field::positions, .need = Need::optional}});
}

}  // namespace

Rows bart_names(const HubConfig& hub, bool with_output) {
  Rows rows = {
      of_encoder("encoder.layers.{layer}.self_attn.q_proj", Field::query),
      of_encoder("encoder.layers.{layer}.self_attn.k_proj", Field::key),
      of_encoder("encoder.layers.{layer}.self_attn.v_proj", Field::value),
      of_encoder("encoder.layers.{layer}.self_attn.out_proj", Field::attention_output),
      of_encoder("encoder.layers.{layer}.self_attn_layer_norm", Field::attention_norm),
      of_encoder("encoder.layers.{layer}.fc1", Field::up),
      of_encoder("encoder.layers.{layer}.fc2", Field::down),
      of_encoder("encoder.layers.{layer}.final_layer_norm", Field::ffn_norm),
      {"decoder.layers.{layer}.self_attn.q_proj", Field::query},
      {"decoder.layers.{layer}.self_attn.k_proj", Field::key},
      {"decoder.layers.{layer}.self_attn.v_proj", Field::value},
      {"decoder.layers.{layer}.self_attn.out_proj", Field::attention_output},
      {"decoder.layers.{layer}.self_attn_layer_norm", Field::attention_norm},
      {"decoder.layers.{layer}.encoder_attn.q_proj", Field::cross_query},
      {"decoder.layers.{layer}.encoder_attn.k_proj", Field::cross_key},
      {"decoder.layers.{layer}.encoder_attn.v_proj", Field::cross_value},
      {"decoder.layers.{layer}.encoder_attn.out_proj", Field::cross_output},
      {"decoder.layers.{layer}.encoder_attn_layer_norm", Field::cross_norm},
      {"decoder.layers.{layer}.fc1", Field::up},
      {"decoder.layers.{layer}.fc2", Field::down},
      {"decoder.layers.{layer}.final_layer_norm", Field::ffn_norm},
      {"/classification_head.*", Field::unused},
      {"/qa_outputs.*", Field::unused},
  };
  append_places(rows, hub);
  Row tokens = {"decoder.embed_tokens.weight", Field::tokens};
  if (hub.shared_embeddings)
    tokens = {.name = "shared.weight",
              .field = Field::tokens,
              .part = StackPart::both,
              .also = {"decoder.embed_tokens.weight", "encoder.embed_tokens.weight"}};
  else append(rows, {of_encoder("encoder.embed_tokens.weight", Field::tokens)});
  add_output_weight(rows, tokens, "/lm_head.weight", hub, with_output);
  append(rows, {tokens});
  if (with_output && hub.family != Family::m2m_100)
    append(rows, {{.name = "/final_logits_bias", .field = Field::output_bias, .need = Need::expected}});
  return rows;
}

Rows t5_names(const HubConfig& hub, bool with_output) {
  const bool gated = hub.config.gated;
  Rows rows = {
      of_encoder("encoder.block.{layer}.layer.0.SelfAttention.q", Field::query, false),
      of_encoder("encoder.block.{layer}.layer.0.SelfAttention.k", Field::key, false),
      of_encoder("encoder.block.{layer}.layer.0.SelfAttention.v", Field::value, false),
      of_encoder("encoder.block.{layer}.layer.0.SelfAttention.o", Field::attention_output, false),
      of_encoder("encoder.block.{layer}.layer.0.layer_norm", Field::attention_norm, false),
      of_encoder("encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", Field::relative_bias),
      of_encoder(gated ? "encoder.block.{layer}.layer.1.DenseReluDense.wi_1"
                       : "encoder.block.{layer}.layer.1.DenseReluDense.wi",
                 Field::up, false),
      of_encoder("encoder.block.{layer}.layer.1.DenseReluDense.wo", Field::down, false),
      of_encoder("encoder.block.{layer}.layer.1.layer_norm", Field::ffn_norm, false),
      of_encoder("encoder.final_layer_norm", Field::final_norm, false),
      linear_row("decoder.block.{layer}.layer.0.SelfAttention.q", Field::query, false),
      linear_row("decoder.block.{layer}.layer.0.SelfAttention.k", Field::key, false),
      linear_row("decoder.block.{layer}.layer.0.SelfAttention.v", Field::value, false),
      linear_row("decoder.block.{layer}.layer.0.SelfAttention.o", Field::attention_output, false),
      rms_norm_row("decoder.block.{layer}.layer.0.layer_norm", Field::attention_norm),
      {"decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", Field::relative_bias},
      linear_row("decoder.block.{layer}.layer.1.EncDecAttention.q", Field::cross_query, false),
      linear_row("decoder.block.{layer}.layer.1.EncDecAttention.k", Field::cross_key, false),
      linear_row("decoder.block.{layer}.layer.1.EncDecAttention.v", Field::cross_value, false),
      linear_row("decoder.block.{layer}.layer.1.EncDecAttention.o", Field::cross_output, false),
      rms_norm_row("decoder.block.{layer}.layer.1.layer_norm", Field::cross_norm),
      linear_row(gated ? "decoder.block.{layer}.layer.2.DenseReluDense.wi_1"
                       : "decoder.block.{layer}.layer.2.DenseReluDense.wi",
                 Field::up, false),
      linear_row("decoder.block.{layer}.layer.2.DenseReluDense.wo", Field::down, false),
      rms_norm_row("decoder.block.{layer}.layer.2.layer_norm", Field::ffn_norm),
      rms_norm_row("decoder.final_layer_norm", Field::final_norm),
      // Stored by the first T5 models, whose cross-attention never adds it.
      {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight", Field::unused},
      {"/classification_head.*", Field::unused},
      {"/classifier.*", Field::unused},
      {"/qa_outputs.*", Field::unused},
  };
  if (gated)
    append(rows, {of_encoder("encoder.block.{layer}.layer.1.DenseReluDense.wi_0", Field::gate, false),
                  linear_row("decoder.block.{layer}.layer.2.DenseReluDense.wi_0", Field::gate, false)});
  Row tokens = {.name = "shared.weight",
                .field = Field::tokens,
                .part = StackPart::both,
                .also = {"decoder.embed_tokens.weight", "encoder.embed_tokens.weight"}};
  add_output_weight(rows, tokens, "/lm_head.weight", hub, with_output);
  append(rows, {tokens});
  return rows;
}

}  // namespace headlight
