// The tables of tensor_names.h, one for each way of naming; families that share one differ in a few rows.
#pragma once

#include <string_view>
#include <vector>

#include "read/hub/tensor_names.h"

namespace headlight {

using Rows = std::vector<Row>;

Rows bert_names(const HubConfig& hub, bool with_output);  // bert, roberta, electra, ernie
Rows albert_names(const HubConfig& hub, bool with_output);
Rows mpnet_names(const HubConfig& hub, bool with_output);
Rows opt_names(const HubConfig& hub, bool with_output);
Rows bloom_names(const HubConfig& hub, bool with_output);
Rows distilbert_names(const HubConfig& hub, bool with_output);
Rows gpt2_names(const HubConfig& hub, bool with_output);
Rows modernbert_names(const HubConfig& hub, bool with_output);
Rows deberta_names(const HubConfig& hub, bool with_output);
Rows gpt_neox_names(const HubConfig& hub, bool with_output);
Rows gptj_names(const HubConfig& hub, bool with_output);
Rows falcon_names(const HubConfig& hub, bool with_output);
Rows phi_names(const HubConfig& hub, bool with_output);
Rows llama_names(const HubConfig& hub, bool with_output);  // as llama_config
Rows bart_names(const HubConfig& hub, bool with_output);   // bart, marian, pegasus, m2m_100
Rows t5_names(const HubConfig& hub, bool with_output);
Rows headlight_names(const HubConfig& hub, bool with_output);

inline void append(Rows& rows, const Rows& more) { rows.insert(rows.end(), more.begin(), more.end()); }

/// A linear layer that has a bias or not; a norm without a shift.
inline Row linear_row(std::string_view name, Field field, bool bias) {
  return {.name = name, .field = field, .bias = bias};
}
inline Row rms_norm_row(std::string_view name, Field field, StackPart part = StackPart::main) {
  return {.name = name, .field = field, .part = part, .bias = false};
}

/// The weight of an output layer that is the tokens' own table, or a table beside it. `tokens` is that table's row.
inline void add_output_weight(Rows& rows, Row& tokens, std::string_view name, const HubConfig& hub, bool with_output) {
  if (hub.config.tied) tokens.also.push_back(name);
  else if (with_output) append(rows, {{name, Field::output}});
}

/// Heads over a model that answer no question of Headlight's.
inline void append_other_heads(Rows& rows) {
  append(rows, {{"/score.*", Field::unused}, {"/qa_outputs.*", Field::unused}, {"/classifier.*", Field::unused}});
}

}  // namespace headlight
