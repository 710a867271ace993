#include "read/hub/tensor_names.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "read/hub/families.h"

namespace headlight {
namespace {

/// The number of rows or columns of a field, in the letters of tensor_names.h.
enum class Size {
  one,
  d,        // d_model
  e,        // of a table of embeddings
  token,    // of a token's vector
  words,    // V, of the stack or of the output layer
  outputs,  // V of the output layer
  positions,
  types,
  tasks,
  buckets,
  distances,  // R
  heads,
  queries,   // H·d_k
  keys,      // H_kv·d_k
  together,  // those of queries, keys and values
  query_norm,
  key_norm,
  ffn,
  two_ffn,
  experts,
  expert_ffn,
  shared_ffn
};

struct FieldRow {
  std::string_view name;
  FieldKind kind;
  Size rows, cols;
  bool Biases::*bias = nullptr;  // whether a linear layer has one; null: it has
};

// In the order of Field.
constexpr FieldRow kFields[] = {
    {"tokens", FieldKind::table, Size::words, Size::token},
    {"positions", FieldKind::matrix, Size::positions, Size::e},
    {"token_types", FieldKind::matrix, Size::types, Size::e},
    {"task_types", FieldKind::matrix, Size::tasks, Size::e},
    {"embedding_norm", FieldKind::norm, Size::one, Size::e},
    {"embedding_projection", FieldKind::linear, Size::d, Size::e},
    {"token_projection", FieldKind::linear, Size::d, Size::token},
    {"relative_bias", FieldKind::matrix, Size::buckets, Size::heads},
    {"distances", FieldKind::matrix, Size::distances, Size::d},
    {"distance_norm", FieldKind::norm, Size::one, Size::d},
    {"final_norm", FieldKind::norm, Size::one, Size::d},
    {"query", FieldKind::linear, Size::queries, Size::d, &Biases::query},
    {"key", FieldKind::linear, Size::keys, Size::d, &Biases::key},
    {"value", FieldKind::linear, Size::keys, Size::d, &Biases::value},
    {"query_key_value", FieldKind::linear, Size::together, Size::d, &Biases::query},
    {"heads_together", FieldKind::linear, Size::together, Size::d, &Biases::query},
    {"attention_output", FieldKind::linear, Size::d, Size::queries, &Biases::output},
    {"query_norm", FieldKind::norm, Size::one, Size::query_norm},
    {"key_norm", FieldKind::norm, Size::one, Size::key_norm},
    {"sinks", FieldKind::vector, Size::one, Size::heads},
    {"distance_key", FieldKind::linear, Size::queries, Size::d},
    {"distance_query", FieldKind::linear, Size::queries, Size::d},
    {"attention_norm", FieldKind::norm, Size::one, Size::d},
    {"cross_query", FieldKind::linear, Size::queries, Size::d, &Biases::query},
    {"cross_key", FieldKind::linear, Size::keys, Size::d, &Biases::key},
    {"cross_value", FieldKind::linear, Size::keys, Size::d, &Biases::value},
    {"cross_output", FieldKind::linear, Size::d, Size::queries, &Biases::output},
    {"cross_norm", FieldKind::norm, Size::one, Size::d},
    {"gate", FieldKind::linear, Size::ffn, Size::d, &Biases::ffn},
    {"up", FieldKind::linear, Size::ffn, Size::d, &Biases::ffn},
    {"gate_up", FieldKind::linear, Size::two_ffn, Size::d, &Biases::ffn},
    {"down", FieldKind::linear, Size::d, Size::ffn, &Biases::ffn},
    {"ffn_norm", FieldKind::norm, Size::one, Size::d},
    {"attention_after_norm", FieldKind::norm, Size::one, Size::d},
    {"ffn_after_norm", FieldKind::norm, Size::one, Size::d},
    {"router", FieldKind::linear, Size::experts, Size::d},
    {"expert_gate", FieldKind::linear, Size::expert_ffn, Size::d},
    {"expert_up", FieldKind::linear, Size::expert_ffn, Size::d},
    {"expert_down", FieldKind::linear, Size::d, Size::expert_ffn},
    {"shared_gate", FieldKind::linear, Size::shared_ffn, Size::d},
    {"shared_up", FieldKind::linear, Size::shared_ffn, Size::d},
    {"shared_down", FieldKind::linear, Size::d, Size::shared_ffn},
    {"shared_expert_gate", FieldKind::linear, Size::one, Size::d},
    {"output", FieldKind::table, Size::outputs, Size::token},
    {"output_bias", FieldKind::vector, Size::one, Size::outputs},
    {"transform", FieldKind::linear, Size::e, Size::d},
    {"transform_norm", FieldKind::norm, Size::one, Size::e},
    {"output_projection", FieldKind::linear, Size::token, Size::d},
    {"derived", FieldKind::none, Size::one, Size::d},
    {"unused", FieldKind::none, Size::one, Size::d},
};
static_assert(std::size(kFields) == static_cast<std::size_t>(Field::unused) + 1);

const FieldRow& row_of(Field field) { return kFields[static_cast<std::size_t>(field)]; }

Index number(Size size, StackPart part, const HubConfig& hub) {
  const Config& config = hub.config;
  const Index queries = config.num_heads * config.d_k(), keys = config.kv_heads() * config.d_k();
  const Index ffn = part == StackPart::encoder && hub.encoder_ffn > 0 ? hub.encoder_ffn : config.ffn;
  switch (size) {
    case Size::one: return 1;
    case Size::d: return config.d_model;
    case Size::e: return hub.table_width();
    case Size::token: return hub.token_width > 0 ? hub.token_width : hub.table_width();
    case Size::words: return part == StackPart::main ? hub.output_vocabulary : hub.vocabulary;
    case Size::outputs: return hub.output_vocabulary;
    case Size::positions: return hub.positions;
    case Size::types: return hub.token_types;
    case Size::tasks: return hub.task_types;
    case Size::buckets: return hub.relative_buckets;
    case Size::distances: return hub.distance_rows;
    case Size::heads: return config.num_heads;
    case Size::queries: return queries;
    case Size::keys: return keys;
    case Size::together: return queries + 2 * keys;
    case Size::query_norm: return hub.wide_head_norms ? queries : config.d_k();
    case Size::key_norm: return hub.wide_head_norms ? keys : config.d_k();
    case Size::ffn: return ffn;
    case Size::two_ffn: return 2 * ffn;
    case Size::experts: return hub.experts;
    case Size::expert_ffn: return hub.expert_ffn;
    case Size::shared_ffn: return hub.shared_ffn;
  }
  return 0;
}

/// What the rows of families.json ask of a configuration.
struct Condition {
  std::string_view name;
  bool (*holds)(const HubConfig& hub);
};
constexpr Condition kConditions[] = {
    {"distance_keys", [](const HubConfig& hub) { return !hub.shared_distances && hub.content_to_position; }},
    {"distance_norm", [](const HubConfig& hub) { return hub.distance_norm; }},
    {"distance_queries", [](const HubConfig& hub) { return !hub.shared_distances && hub.position_to_content; }},
    {"ffn", [](const HubConfig& hub) { return hub.config.ffn > 0; }},
    {"final_norms", [](const HubConfig& hub) { return hub.final_norms; }},
    {"gated", [](const HubConfig& hub) { return hub.config.gated; }},
    {"head_norms", [](const HubConfig& hub) { return hub.head_norms || hub.wide_head_norms; }},
    {"learned", [](const HubConfig& hub) { return hub.config.position == Position::learned; }},
    {"narrow_tables", [](const HubConfig& hub) { return hub.table_width() != hub.config.d_model; }},
    {"narrow_tokens", [](const HubConfig& hub) { return hub.token_width > 0; }},
    {"parallel", [](const HubConfig& hub) { return hub.parallel; }},
    {"pre", [](const HubConfig& hub) { return hub.config.norm == Norm::pre; }},
    {"shared_embeddings", [](const HubConfig& hub) { return hub.shared_embeddings; }},
    {"shared_expert", [](const HubConfig& hub) { return hub.shared_ffn > 0; }},
    {"sinks", [](const HubConfig& hub) { return hub.config.sinks; }},
    {"task_types", [](const HubConfig& hub) { return hub.task_types > 0; }},
    {"token_types", [](const HubConfig& hub) { return hub.token_types > 0; }},
    {"two_norms", [](const HubConfig& hub) { return hub.two_norms; }},
    {"two_stacks", [](const HubConfig& hub) { return hub.config.arch == Arch::encoder_decoder; }},
};

bool holds(std::string_view condition, const HubConfig& hub, bool with_output) {
  const bool negated = condition.starts_with('!');
  if (negated) condition.remove_prefix(1);
  if (condition == "output") return with_output != negated;
  const auto known = std::find_if(std::begin(kConditions), std::end(kConditions),
                                  [condition](const Condition& one) { return one.name == condition; });
  assert(known != std::end(kConditions));
  return known->holds(hub) != negated;
}

/// The row of this configuration.
Row row_for(const TensorPattern& pattern, const HubConfig& hub) {
  Row row = pattern.row;
  const FieldRow& field = row_of(row.field);
  if (field.kind == FieldKind::norm) row.bias = row.bias && hub.config.norm_kind == NormKind::layer_norm;
  else if (field.bias) row.bias = hub.config.bias.*field.bias;
  if (hub.config.arch != Arch::encoder_decoder) return row;
  if (pattern.of_both_stacks) row.part = StackPart::both;
  else if (row.name.starts_with("encoder.")) row.part = StackPart::encoder;
  return row;
}

/// The prefixes of training programs (Lightning, DataParallel, torch.compile, FSDP) and of models that read pictures too.
constexpr std::string_view kTextModel = "language_model.";
constexpr std::string_view kWrappers[] = {
    "model.", "module.", "_orig_mod.", "_forward_module.", "_fsdp_wrapped_module.", kTextModel};

bool is_wrapping(std::string_view text) {
  while (!text.empty()) {
    const auto at = std::find_if(std::begin(kWrappers), std::end(kWrappers),
                                 [text](std::string_view wrapper) { return text.starts_with(wrapper); });
    if (at == std::end(kWrappers)) return false;
    text.remove_prefix(at->size());
  }
  return true;
}

}  // namespace

FieldKind kind(Field field) { return row_of(field).kind; }

Field field_named(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kFields), std::end(kFields), [name](const FieldRow& row) { return row.name == name; });
  assert(found != std::end(kFields));
  return static_cast<Field>(found - std::begin(kFields));
}

bool is_of_a_block(const Row& row) { return row.name.find("{layer}") != std::string_view::npos; }

bool is_of_an_expert(const Row& row) { return row.name.find("{expert}") != std::string_view::npos; }

Row row_of_expert(const Row& row, Index expert, std::string& name) {
  constexpr std::string_view kExpert = "{expert}";
  name = std::string(row.name).replace(row.name.find(kExpert), kExpert.size(), std::to_string(expert));
  Row of_expert = row;
  of_expert.name = name;
  of_expert.expert = expert;
  return of_expert;
}

std::string_view prefix(const HubConfig& hub) { return hub.family->prefix; }

std::string_view output_marker(const HubConfig& hub) {
  return hub.config.tied ? hub.family->tied_prefix : hub.family->output_prefix;
}

std::vector<Row> tensor_names(const HubConfig& hub, bool with_output) {
  std::vector<Row> rows;
  std::vector<std::string_view> tied;  // names of an output layer whose weight is the table of the tokens
  for (const TensorPattern& pattern : hub.family->tensors) {
    if (!std::all_of(pattern.conditions.begin(), pattern.conditions.end(),
                     [&](std::string_view one) { return holds(one, hub, with_output); }))
      continue;
    if (pattern.row.field != Field::output) rows.push_back(row_for(pattern, hub));
    else if (hub.config.tied) tied.push_back(pattern.row.name);
    else if (with_output) rows.push_back(row_for(pattern, hub));
  }
  const auto tokens = std::find_if(rows.begin(), rows.end(), [](const Row& row) {
    return row.field == Field::tokens && row.part != StackPart::encoder;
  });
  tokens->also.insert(tokens->also.end(), tied.begin(), tied.end());
  return rows;
}

TensorShape shape(Field field, StackPart part, const HubConfig& hub) {
  return {number(row_of(field).rows, part, hub), number(row_of(field).cols, part, hub)};
}

StoredArrays unwrapped(StoredArrays stored, const HubConfig& hub) {
  const std::string begin(prefix(hub));
  std::vector<std::string> tables;  // under which token vectors may stand
  for (const Row& row : tensor_names(hub, false)) {
    if (row.field != Field::tokens) continue;
    std::vector<std::string_view> spellings{row.name};
    spellings.insert(spellings.end(), row.also.begin(), row.also.end());
    for (const std::string_view name : spellings) {
      if (name.starts_with('/')) continue;
      tables.emplace_back(name);
      tables.push_back(begin + std::string(name));
    }
  }
  std::optional<std::string> wrapper;
  for (const auto& [name, array] : stored.arrays)
    for (const std::string& table : tables) {
      if (!name.ends_with(table)) continue;
      const std::string before = name.substr(0, name.size() - table.size());
      if (is_wrapping(before) && (!wrapper || before.size() < wrapper->size())) wrapper = before;
    }
  if (!wrapper || wrapper->empty()) return stored;
  // Where what reads pictures stands beside the text in the family's own prefix, the text's names get it again.
  const std::string again = wrapper->ends_with(kTextModel) && wrapper->starts_with(begin) ? begin : std::string();
  StoredArrays plain{.arrays = {}, .metadata = std::move(stored.metadata)};
  for (auto& [name, array] : stored.arrays)
    plain.arrays.emplace(name.starts_with(*wrapper) ? again + name.substr(wrapper->size()) : name, std::move(array));
  return plain;
}

}  // namespace headlight
