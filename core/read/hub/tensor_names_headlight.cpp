#include "read/hub/tensor_name_tables.h"

namespace headlight {
namespace {

/// The blocks and the final norm of one stack. An encoder-decoder has two, of which the decoder is the main one.
void append_stack(Rows& rows, const HubConfig& hub, StackPart part) {
  const Config& config = hub.config;
  const bool encoder = part == StackPart::encoder;
  const bool shift = config.norm_kind == NormKind::layer_norm;
  const auto add = [&](std::string_view main, std::string_view of_encoder, Field field, bool bias) {
    rows.push_back({.name = encoder ? of_encoder : main, .field = field, .part = part, .bias = bias});
  };
  const bool bias = config.bias.any();
  add("layers.{layer}.attention.query", "encoder.layers.{layer}.attention.query", Field::query, bias);
  add("layers.{layer}.attention.key", "encoder.layers.{layer}.attention.key", Field::key, bias);
  add("layers.{layer}.attention.value", "encoder.layers.{layer}.attention.value", Field::value, bias);
  add("layers.{layer}.attention.output", "encoder.layers.{layer}.attention.output", Field::attention_output, bias);
  if (config.sinks && !encoder) rows.push_back({.name = "layers.{layer}.attention.sinks", .field = Field::sinks});
  add("layers.{layer}.attention_norm", "encoder.layers.{layer}.attention_norm", Field::attention_norm, shift);
  if (!encoder && config.arch == Arch::encoder_decoder) {
    for (const auto& [name, field] :
         {std::pair<std::string_view, Field>{"layers.{layer}.cross_attention.query", Field::cross_query},
          {"layers.{layer}.cross_attention.key", Field::cross_key},
          {"layers.{layer}.cross_attention.value", Field::cross_value},
          {"layers.{layer}.cross_attention.output", Field::cross_output}}) {
      rows.push_back(linear_row(name, field, bias));
    }
    rows.push_back({.name = "layers.{layer}.cross_norm", .field = Field::cross_norm, .bias = shift});
  }
  if (config.ffn > 0) {
    add("layers.{layer}.ffn.up", "encoder.layers.{layer}.ffn.up", Field::up, bias);
    add("layers.{layer}.ffn.down", "encoder.layers.{layer}.ffn.down", Field::down, bias);
    add("layers.{layer}.ffn_norm", "encoder.layers.{layer}.ffn_norm", Field::ffn_norm, shift);
  }
  if (config.norm == Norm::pre) add("final_norm", "encoder.final_norm", Field::final_norm, shift);
}

}  // namespace

Rows headlight_names(const HubConfig& hub, bool with_output) {
  Rows rows;
  const bool two = hub.config.arch == Arch::encoder_decoder;
  Row tokens = {
      .name = "embeddings.tokens.weight", .field = Field::tokens, .part = two ? StackPart::both : StackPart::main};
  add_output_weight(rows, tokens, "output.weight", hub, with_output);
  rows.insert(rows.begin(), tokens);
  if (hub.config.position == Position::learned) {
    rows.push_back({"embeddings.positions.weight", Field::positions});
    if (two) {
      rows.push_back(
          {.name = "encoder.embeddings.positions.weight", .field = Field::positions, .part = StackPart::encoder});
    }
  }
  if (two) append_stack(rows, hub, StackPart::encoder);
  append_stack(rows, hub, StackPart::main);
  if (with_output) rows.push_back({.name = "output.bias", .field = Field::output_bias, .need = Need::optional});
  return rows;
}

}  // namespace headlight
