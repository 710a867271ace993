#include "read/hub/tensor_names.h"

#include <string>

namespace headlight {

FieldKind kind(Field field) {
  switch (field) {
    case Field::positions:
    case Field::token_types:
    case Field::task_types:
    case Field::distances:
    case Field::relative_bias: return FieldKind::matrix;
    case Field::tokens:
    case Field::output: return FieldKind::table;
    case Field::sinks:
    case Field::output_bias: return FieldKind::vector;
    case Field::embedding_norm:
    case Field::final_norm:
    case Field::attention_norm:
    case Field::cross_norm:
    case Field::query_norm:
    case Field::key_norm:
    case Field::ffn_norm:
    case Field::attention_after_norm:
    case Field::ffn_after_norm:
    case Field::distance_norm:
    case Field::transform_norm: return FieldKind::norm;
    case Field::derived:
    case Field::unused: return FieldKind::none;
    default: return FieldKind::linear;
  }
}

bool is_of_a_block(const Row& row) { return row.name.find("{layer}") != std::string_view::npos; }

bool is_of_an_expert(const Row& row) { return row.name.find("{expert}") != std::string_view::npos; }

Row row_of_expert(const Row& row, Index expert, std::string& name) {
  constexpr std::string_view kExpert = "{expert}";
  name = std::string(row.name).replace(row.name.find(kExpert), kExpert.size(), std::to_string(expert));
  Row own = row;
  own.name = name;
  own.expert = expert;
  return own;
}

std::string_view output_marker(const HubConfig& hub) {
  switch (hub.family) {
    case Family::bert:
    case Family::deberta_v2:
    case Family::ernie: return "cls.predictions.";
    case Family::modernbert: return "decoder.bias";
    case Family::gpt_neox: return hub.config.tied ? "" : "embed_out.";
    case Family::albert: return "predictions.";
    case Family::mpnet:
    case Family::roberta: return "lm_head.";
    case Family::distilbert: return "vocab_transform.";
    case Family::electra: return "generator_predictions.";
    case Family::headlight: return hub.config.tied ? "output.bias" : "output.weight";
    case Family::bart:
    case Family::pegasus:
    case Family::marian: return hub.config.tied ? "final_logits_bias" : "lm_head.";
    default: return hub.config.tied ? "" : "lm_head.";
  }
}

TensorShape shape(Field field, StackPart part, const HubConfig& hub) {
  const Config& config = hub.config;
  const bool encoder = part == StackPart::encoder;
  const Index d = config.d_model, e = hub.table_width(), token = hub.token_width > 0 ? hub.token_width : e;
  const Index queries = config.num_heads * config.d_k(), keys = config.kv_heads() * config.d_k();
  const Index ffn = encoder && hub.encoder_ffn > 0 ? hub.encoder_ffn : config.ffn;
  switch (field) {
    case Field::tokens: return {part == StackPart::main ? hub.output_vocabulary : hub.vocabulary, token};
    case Field::positions: return {hub.positions, e};
    case Field::token_types: return {hub.token_types, e};
    case Field::task_types: return {hub.task_types, e};
    case Field::embedding_norm:
    case Field::transform_norm: return {1, e};
    case Field::embedding_projection: return {d, e};
    case Field::relative_bias: return {hub.relative_buckets, config.num_heads};
    case Field::query_norm: return {1, hub.wide_head_norms ? queries : config.d_k()};
    case Field::key_norm: return {1, hub.wide_head_norms ? keys : config.d_k()};
    case Field::sinks: return {1, config.num_heads};
    case Field::distances: return {hub.distance_rows, d};
    case Field::distance_key:
    case Field::distance_query: return {queries, d};
    case Field::router: return {hub.experts, d};
    case Field::expert_gate:
    case Field::expert_up: return {hub.expert_ffn, d};
    case Field::expert_down: return {d, hub.expert_ffn};
    case Field::shared_gate:
    case Field::shared_up: return {hub.shared_ffn, d};
    case Field::shared_down: return {d, hub.shared_ffn};
    case Field::shared_expert_gate: return {1, d};
    case Field::query:
    case Field::cross_query: return {queries, d};
    case Field::key:
    case Field::value:
    case Field::cross_key:
    case Field::cross_value: return {keys, d};
    case Field::query_key_value:
    case Field::heads_together: return {queries + 2 * keys, d};
    case Field::gate_up: return {2 * ffn, d};
    case Field::attention_output:
    case Field::cross_output: return {d, queries};
    case Field::gate:
    case Field::up: return {ffn, d};
    case Field::down: return {d, ffn};
    case Field::output: return {hub.output_vocabulary, token};
    case Field::token_projection: return {d, token};
    case Field::output_projection: return {token, d};
    case Field::output_bias: return {1, hub.output_vocabulary};
    case Field::transform: return {e, d};
    default: return {1, d};
  }
}

}  // namespace headlight
