#include "read/hub/tensor_names.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/names.h"
#include "base/utf8.h"
#include "model/config_fields.h"
#include "read/hub/families.h"

namespace headlight {
namespace {

Index queries_of(const HubConfig& hub) { return hub.config.num_heads * hub.config.d_k(); }
Index keys_of(const HubConfig& hub) { return hub.config.kv_heads() * hub.config.d_k(); }
Index ffn_of(const HubConfig& hub, StackPart part) {
  return part == StackPart::encoder && hub.encoder_ffn > 0 ? hub.encoder_ffn : hub.config.ffn;
}

Index token_width(const HubConfig& hub, StackPart) { return hub.token_width > 0 ? hub.token_width : hub.table_width(); }
Index read_by_output(const HubConfig& hub, StackPart part) {
  return token_width(hub, part) * (hub.picture ? std::ssize(hub.picture->classified_by) : 1);
}

/// A number of rows or columns, by its name in families.json.
struct Size {
  std::string_view name;
  Index (*of)(const HubConfig& hub, StackPart part);
};
constexpr Size kSizes[] = {
    {"one", [](const HubConfig&, StackPart) { return Index{1}; }},
    {"d", [](const HubConfig& h, StackPart) { return h.config.d_model; }},
    {"e", [](const HubConfig& h, StackPart) { return h.table_width(); }},
    {"token", token_width},
    {"read", read_by_output},
    {"words",
     [](const HubConfig& h, StackPart part) { return part == StackPart::main ? h.output_vocabulary : h.vocabulary; }},
    {"outputs", [](const HubConfig& h, StackPart) { return h.output_vocabulary; }},
    {"positions", [](const HubConfig& h, StackPart) { return h.positions; }},
    {"types", [](const HubConfig& h, StackPart) { return h.token_types; }},
    {"tasks", [](const HubConfig& h, StackPart) { return h.task_types; }},
    {"buckets", [](const HubConfig& h, StackPart) { return h.relative_buckets; }},
    {"distances", [](const HubConfig& h, StackPart) { return h.distance_rows; }},
    {"pixels", [](const HubConfig& h, StackPart) { return h.picture ? 3 * h.picture->patch * h.picture->patch : 0; }},
    {"registers", [](const HubConfig& h, StackPart) { return h.picture ? h.picture->registers : 0; }},
    {"heads", [](const HubConfig& h, StackPart) { return h.config.num_heads; }},
    {"queries", [](const HubConfig& h, StackPart) { return queries_of(h); }},
    {"keys", [](const HubConfig& h, StackPart) { return keys_of(h); }},
    {"together", [](const HubConfig& h, StackPart) { return queries_of(h) + 2 * keys_of(h); }},
    {"query_norm", [](const HubConfig& h, StackPart) { return h.wide_head_norms ? queries_of(h) : h.config.d_k(); }},
    {"key_norm", [](const HubConfig& h, StackPart) { return h.wide_head_norms ? keys_of(h) : h.config.d_k(); }},
    {"ffn", ffn_of},
    {"two_ffn", [](const HubConfig& h, StackPart part) { return 2 * ffn_of(h, part); }},
    {"experts", [](const HubConfig& h, StackPart) { return h.experts; }},
    {"expert_ffn", [](const HubConfig& h, StackPart) { return h.expert_ffn; }},
    {"shared_ffn", [](const HubConfig& h, StackPart) { return h.shared_ffn; }},
};

/// The conditions that the rows of families.json put on a configuration.
struct Condition {
  std::string_view name;
  bool (*holds)(const HubConfig& hub);
};
constexpr Condition kConditions[] = {
    {"distance_keys", [](const HubConfig& h) { return !h.shared_distances && h.content_to_position; }},
    {"distance_norm", [](const HubConfig& h) { return h.distance_norm; }},
    {"distance_queries", [](const HubConfig& h) { return !h.shared_distances && h.position_to_content; }},
    {"ffn", [](const HubConfig& h) { return h.config.ffn > 0; }},
    {"final_norms", [](const HubConfig& h) { return h.final_norms; }},
    {"gated", [](const HubConfig& h) { return h.config.gated; }},
    {"head_norms", [](const HubConfig& h) { return h.head_norms || h.wide_head_norms; }},
    {"layer_scales", [](const HubConfig& h) { return h.layer_scales; }},
    {"learned", [](const HubConfig& h) { return h.config.position == Position::learned; }},
    {"mean_pooling", [](const HubConfig& h) { return h.mean_pooling; }},
    {"narrow_tables", [](const HubConfig& h) { return h.table_width() != h.config.d_model; }},
    {"narrow_tokens", [](const HubConfig& h) { return h.token_width > 0; }},
    {"pair_bias", [](const HubConfig& h) { return h.relative_buckets > 0 && !h.shared_pair_bias; }},
    {"parallel", [](const HubConfig& h) { return h.parallel; }},
    {"plain_norms", [](const HubConfig& h) { return h.plain_norms; }},
    {"pre", [](const HubConfig& h) { return h.config.norm == Norm::pre; }},
    {"registers", [](const HubConfig& h) { return h.picture->registers > 0; }},
    {"shared_embeddings", [](const HubConfig& h) { return h.shared_embeddings; }},
    {"shared_expert", [](const HubConfig& h) { return h.shared_ffn > 0; }},
    {"shared_pair_bias", [](const HubConfig& h) { return h.shared_pair_bias; }},
    {"sinks", [](const HubConfig& h) { return h.config.sinks; }},
    {"task_types", [](const HubConfig& h) { return h.task_types > 0; }},
    {"token_types", [](const HubConfig& h) { return h.token_types > 0; }},
    {"two_classifiers", [](const HubConfig& h) { return h.picture->two_classifiers; }},
    {"two_norms", [](const HubConfig& h) { return h.two_norms; }},
    {"two_stacks", [](const HubConfig& h) { return h.config.arch == Arch::encoder_decoder; }},
};

bool holds(std::string_view condition, const HubConfig& hub, bool with_output) {
  const bool negated = condition.starts_with('!');
  if (negated) condition.remove_prefix(1);
  if (condition == "output") return with_output != negated;
  return named(kConditions, condition).holds(hub) != negated;
}

const FieldRow& row_of(Field field) { return all_fields()[static_cast<std::size_t>(field)]; }

/// The row of this configuration.
Row row_for(const TensorPattern& pattern, const HubConfig& hub) {
  Row row = pattern.row;
  const FieldRow& field = row_of(row.field);
  if (hub.stored_outputs_first) row.form = Form::plain;
  if (field.kind == FieldKind::norm) row.bias = row.bias && hub.config.norm_kind == NormKind::layer_norm;
  else if (field.bias) row.bias = row.bias && hub.config.bias.*field.bias;
  if (hub.config.arch != Arch::encoder_decoder) return row;
  if (pattern.of_both_stacks) row.part = StackPart::both;
  else if (row.name.starts_with("encoder.")) row.part = StackPart::encoder;
  return row;
}

/// The prefixes of training programs (Lightning, DataParallel, torch.compile, FSDP) and of models that read pictures
/// too.
constexpr std::string_view kTextModel = "language_model.";
constexpr std::string_view kWrappers[] = {
    "model.", "module.", "_orig_mod.", "_forward_module.", "_fsdp_wrapped_module.", kTextModel};

}  // namespace

FieldRow parsed_field(std::string_view text) {
  constexpr std::string_view kKinds[] = {"matrix", "table", "vector", "linear", "norm", "none"};
  const auto words = split_at(' ', text);
  FieldRow row{.name = words.at(0),
               .kind = *value_named<FieldKind>(kKinds, words.at(1)),
               .rows = named(kSizes, words.at(2)).of,
               .cols = named(kSizes, words.at(3)).of};
  for (const BiasName& bias : kBiasNames)
    if (words.size() > 4 && bias.name == words[4]) row.bias = bias.value;
  return row;
}

FieldKind kind(Field field) { return row_of(field).kind; }

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
  if (tokens == rows.end()) return rows;
  tokens->also.insert(tokens->also.end(), tied.begin(), tied.end());
  return rows;
}

TensorShape shape(Field field, StackPart part, const HubConfig& hub) {
  return {row_of(field).rows(hub, part), row_of(field).cols(hub, part)};
}

bool is_wrapping(std::string_view text) {
  while (!text.empty()) {
    const auto at = std::find_if(std::begin(kWrappers), std::end(kWrappers),
                                 [text](std::string_view wrapper) { return text.starts_with(wrapper); });
    if (at == std::end(kWrappers)) return false;
    text.remove_prefix(at->size());
  }
  return true;
}

StoredArrays unwrapped(StoredArrays stored, const HubConfig& hub) {
  const std::string begin(prefix(hub));
  std::vector<std::string> tables;  // under which token vectors may stand
  for (const Row& row : tensor_names(hub, false)) {
    if (row.field != Field::tokens && row.field != Field::patches) continue;
    const std::string_view ending = row.field == Field::patches ? ".weight" : "";
    std::vector<std::string_view> spellings{row.name};
    spellings.insert(spellings.end(), row.also.begin(), row.also.end());
    for (const std::string_view name : spellings) {
      if (name.starts_with('/')) continue;
      tables.push_back(std::string(name) + std::string(ending));
      tables.push_back(begin + std::string(name) + std::string(ending));
    }
  }
  std::optional<std::string> wrapper;
  std::set<std::string> others;  // what else stands before tables of the model's width
  for (const auto& [name, array] : stored.arrays) {
    std::optional<std::string> other;
    for (const std::string& table : tables) {
      if (!name.ends_with(table)) continue;
      const std::string before = name.substr(0, name.size() - table.size());
      if (is_wrapping(before) && (!wrapper || before.size() < wrapper->size())) wrapper = before;
      const bool fits = array.shape.size() == 2 && array.shape[1] == shape(Field::tokens, StackPart::main, hub).cols;
      if (fits && before.ends_with('.') && (!other || before.size() < other->size())) other = before;
    }
    if (other) others.insert(*other);
  }
  if (!wrapper && others.size() == 1) wrapper = *others.begin();
  if (!wrapper || wrapper->empty()) return stored;
  // A model that reads pictures may name them and the text under the family's prefix: the text's names keep it.
  const std::string again = wrapper->ends_with(kTextModel) && wrapper->starts_with(begin) ? begin : std::string();
  StoredArrays plain{.arrays = {}, .metadata = std::move(stored.metadata)};
  for (auto& [name, array] : stored.arrays)
    plain.arrays.emplace(name.starts_with(*wrapper) ? again + name.substr(wrapper->size()) : name, std::move(array));
  return plain;
}

bool is_of_adapter(std::string_view name) {
  return name.find(".lora_") != name.npos || name.find(".modules_to_save") != name.npos;
}

}  // namespace headlight
