#include "read/hub/tensor_name_tables.h"

namespace headlight {
namespace {

/// Of a masked language model. Its weight may be stored although it is the tokens' own.
void append_output(Rows& rows, const HubConfig& hub) {
  std::string_view weight;
  switch (hub.family) {
    case Family::mpnet:
    case Family::roberta:
      append(rows, {
                       {"/lm_head.dense", Field::transform},
                       {"/lm_head.layer_norm", Field::transform_norm},
                       {.name = "/lm_head.bias", .field = Field::output_bias, .also = {"/lm_head.decoder.bias"}},
                   });
      weight = "/lm_head.decoder.weight";
      break;
    case Family::electra:
      append(rows, {
                       {"/generator_predictions.dense", Field::transform},
                       {"/generator_predictions.LayerNorm", Field::transform_norm},
                       {"/generator_lm_head.bias", Field::output_bias},
                   });
      weight = "/generator_lm_head.weight";
      break;
    case Family::albert:
      append(rows,
             {
                 {"/predictions.dense", Field::transform},
                 {"/predictions.LayerNorm", Field::transform_norm},
                 {.name = "/predictions.bias", .field = Field::output_bias, .also = {"/predictions.decoder.bias"}},
             });
      weight = "/predictions.decoder.weight";
      break;
    default:
      append(
          rows,
          {
              {"/cls.predictions.transform.dense", Field::transform},
              {"/cls.predictions.transform.LayerNorm", Field::transform_norm},
              {.name = "/cls.predictions.bias", .field = Field::output_bias, .also = {"/cls.predictions.decoder.bias"}},
          });
      weight = "/cls.predictions.decoder.weight";
  }
  if (hub.config.tied) rows.front().also.push_back(weight);
  else append(rows, {{weight, Field::output}});
}

}  // namespace

Rows bert_names(const HubConfig& hub, bool with_output) {
  Rows rows = {
      {"embeddings.word_embeddings.weight", Field::tokens},
      {"embeddings.position_embeddings.weight", Field::positions},
      {"embeddings.token_type_embeddings.weight", Field::token_types},
      {"embeddings.LayerNorm", Field::embedding_norm},
      {"encoder.layer.{layer}.attention.self.query", Field::query},
      {"encoder.layer.{layer}.attention.self.key", Field::key},
      {"encoder.layer.{layer}.attention.self.value", Field::value},
      {"encoder.layer.{layer}.attention.output.dense", Field::attention_output},
      {"encoder.layer.{layer}.attention.output.LayerNorm", Field::attention_norm},
      {"encoder.layer.{layer}.intermediate.dense", Field::up},
      {"encoder.layer.{layer}.output.dense", Field::down},
      {"encoder.layer.{layer}.output.LayerNorm", Field::ffn_norm},
      {"embeddings.position_ids", Field::derived},
      {"embeddings.token_type_ids", Field::derived},  // zeros, the default types
      {"pooler.*", Field::unused},
      {"/cls.seq_relationship.*", Field::unused},
      {"/discriminator_predictions.*", Field::unused},
      {"/classifier.*", Field::unused},
      {"/qa_outputs.*", Field::unused},
  };
  if (hub.table_width() != hub.config.d_model) append(rows, {{"embeddings_project", Field::embedding_projection}});
  if (hub.task_types > 0) append(rows, {{"embeddings.task_type_embeddings.weight", Field::task_types}});
  if (with_output) append_output(rows, hub);
  return rows;
}

Rows albert_names(const HubConfig& hub, bool with_output) {
  Rows rows = {
      {"embeddings.word_embeddings.weight", Field::tokens},
      {"embeddings.position_embeddings.weight", Field::positions},
      {"embeddings.token_type_embeddings.weight", Field::token_types},
      {"embeddings.LayerNorm", Field::embedding_norm},
      {"encoder.embedding_hidden_mapping_in", Field::embedding_projection},
      {"encoder.albert_layer_groups.{layer}.albert_layers.0.attention.query", Field::query},
      {"encoder.albert_layer_groups.{layer}.albert_layers.0.attention.key", Field::key},
      {"encoder.albert_layer_groups.{layer}.albert_layers.0.attention.value", Field::value},
      {"encoder.albert_layer_groups.{layer}.albert_layers.0.attention.dense", Field::attention_output},
      {"encoder.albert_layer_groups.{layer}.albert_layers.0.attention.LayerNorm", Field::attention_norm},
      {"encoder.albert_layer_groups.{layer}.albert_layers.0.ffn", Field::up},
      {"encoder.albert_layer_groups.{layer}.albert_layers.0.ffn_output", Field::down},
      {"encoder.albert_layer_groups.{layer}.albert_layers.0.full_layer_layer_norm", Field::ffn_norm},
      {"embeddings.position_ids", Field::derived},
      {"pooler.*", Field::unused},
      {"/sop_classifier.*", Field::unused},
      {"/classifier.*", Field::unused},
      {"/qa_outputs.*", Field::unused},
  };
  if (with_output) append_output(rows, hub);
  return rows;
}

Rows mpnet_names(const HubConfig& hub, bool with_output) {
  Rows rows = {
      {"embeddings.word_embeddings.weight", Field::tokens},
      {"embeddings.position_embeddings.weight", Field::positions},
      {"embeddings.LayerNorm", Field::embedding_norm},
      {"encoder.layer.{layer}.attention.attn.q", Field::query},
      {"encoder.layer.{layer}.attention.attn.k", Field::key},
      {"encoder.layer.{layer}.attention.attn.v", Field::value},
      {"encoder.layer.{layer}.attention.attn.o", Field::attention_output},
      {"encoder.layer.{layer}.attention.LayerNorm", Field::attention_norm},
      {"encoder.layer.{layer}.intermediate.dense", Field::up},
      {"encoder.layer.{layer}.output.dense", Field::down},
      {"encoder.layer.{layer}.output.LayerNorm", Field::ffn_norm},
      {"encoder.relative_attention_bias.weight", Field::relative_bias},
      {"embeddings.position_ids", Field::derived},
      {"pooler.*", Field::unused},
      {"/classifier.*", Field::unused},
      {"/qa_outputs.*", Field::unused},
  };
  if (with_output) append_output(rows, hub);
  return rows;
}

Rows modernbert_names(const HubConfig& hub, bool with_output) {
  const Biases& bias = hub.config.bias;
  Rows rows = {
      {"embeddings.tok_embeddings.weight", Field::tokens},
      rms_norm_row("embeddings.norm", Field::embedding_norm),
      rms_norm_row("layers.{layer}.attn_norm", Field::attention_norm),
      linear_row("layers.{layer}.attn.Wqkv", Field::query_key_value, bias.query),
      linear_row("layers.{layer}.attn.Wo", Field::attention_output, bias.output),
      rms_norm_row("layers.{layer}.mlp_norm", Field::ffn_norm),
      linear_row("layers.{layer}.mlp.Wi", Field::gate_up, bias.ffn),
      linear_row("layers.{layer}.mlp.Wo", Field::down, bias.ffn),
      rms_norm_row("final_norm", Field::final_norm),
      {"/head.*", Field::unused},
      {"/classifier.*", Field::unused},
  };
  rows[2].from_layer = 1;  // the first attention reads what the embeddings' norm made
  if (!with_output) return rows;
  append(rows, {linear_row("/head.dense", Field::transform, false),
                rms_norm_row("/head.norm", Field::transform_norm),
                {"/decoder.bias", Field::output_bias}});
  add_output_weight(rows, rows.front(), "/decoder.weight", hub, with_output);
  return rows;
}

Rows deberta_names(const HubConfig& hub, bool with_output) {
  Rows rows = {
      {"embeddings.word_embeddings.weight", Field::tokens},
      {"embeddings.LayerNorm", Field::embedding_norm},
      {"encoder.layer.{layer}.attention.self.query_proj", Field::query},
      {"encoder.layer.{layer}.attention.self.key_proj", Field::key},
      {"encoder.layer.{layer}.attention.self.value_proj", Field::value},
      {"encoder.layer.{layer}.attention.output.dense", Field::attention_output},
      {"encoder.layer.{layer}.attention.output.LayerNorm", Field::attention_norm},
      {"encoder.layer.{layer}.intermediate.dense", Field::up},
      {"encoder.layer.{layer}.output.dense", Field::down},
      {"encoder.layer.{layer}.output.LayerNorm", Field::ffn_norm},
      {"encoder.rel_embeddings.weight", Field::distances},
      {"embeddings.position_ids", Field::derived},
      {"pooler.*", Field::unused},
      {"/pooler.*", Field::unused},
      {"/classifier.*", Field::unused},
      {"/qa_outputs.*", Field::unused},
      {"/lm_predictions.*", Field::unused},
      {"/mask_predictions.*", Field::unused},
  };
  if (hub.config.position == Position::learned)
    append(rows, {{"embeddings.position_embeddings.weight", Field::positions}});
  if (hub.token_types > 0) append(rows, {{"embeddings.token_type_embeddings.weight", Field::token_types}});
  if (hub.distance_norm) append(rows, {{"encoder.LayerNorm", Field::distance_norm}});
  if (!hub.shared_distances && hub.content_to_position)
    append(rows, {{"encoder.layer.{layer}.attention.self.pos_key_proj", Field::distance_key}});
  if (!hub.shared_distances && hub.position_to_content)
    append(rows, {{"encoder.layer.{layer}.attention.self.pos_query_proj", Field::distance_query}});
  if (with_output) append_output(rows, hub);
  return rows;
}

Rows distilbert_names(const HubConfig& hub, bool with_output) {
  Rows rows = {
      {"embeddings.word_embeddings.weight", Field::tokens},
      {"embeddings.position_embeddings.weight", Field::positions},
      {"embeddings.LayerNorm", Field::embedding_norm},
      {"transformer.layer.{layer}.attention.q_lin", Field::query},
      {"transformer.layer.{layer}.attention.k_lin", Field::key},
      {"transformer.layer.{layer}.attention.v_lin", Field::value},
      {"transformer.layer.{layer}.attention.out_lin", Field::attention_output},
      {"transformer.layer.{layer}.sa_layer_norm", Field::attention_norm},
      {"transformer.layer.{layer}.ffn.lin1", Field::up},
      {"transformer.layer.{layer}.ffn.lin2", Field::down},
      {"transformer.layer.{layer}.output_layer_norm", Field::ffn_norm},
      {"embeddings.position_ids", Field::derived},
      {"/pre_classifier.*", Field::unused},
      {"/classifier.*", Field::unused},
      {"/qa_outputs.*", Field::unused},
  };
  if (!with_output) return rows;
  append(rows, {
                   {"/vocab_transform", Field::transform},
                   {"/vocab_layer_norm", Field::transform_norm},
                   {"/vocab_projector.bias", Field::output_bias},
               });
  add_output_weight(rows, rows.front(), "/vocab_projector.weight", hub, with_output);
  return rows;
}

}  // namespace headlight
