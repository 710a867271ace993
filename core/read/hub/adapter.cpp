#include "read/hub/adapter.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "read/array/safetensors.h"
#include "read/array/torch_file.h"
#include "read/hub/tensor_names.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"
#include "text/characters.h"
#include "text/pattern.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kAdapterConfig = "adapter_config.json";
constexpr std::size_t kMostAdapterConfig = std::size_t{16} << 20;
constexpr std::int64_t kMostRank = 1 << 16;

struct ByPattern {
  Regex pattern;
  double value;
};

struct LoraConfig {
  std::string where;
  std::int64_t rank = 8;
  double alpha = 8;
  bool rank_stabilised = false, dora = false;
  std::vector<ByPattern> ranks = {}, alphas = {};
  std::string base = {};
  std::string changes_base = {};  // the method of init_lora_weights that leaves other weights in the base
};

/// What one module gains.
struct Change {
  const StoredArray *a = nullptr, *b = nullptr, *magnitude = nullptr, *bias = nullptr;
  bool embedding = false;
};

/// The arrays of an adapter by the modules of the base, and those that stand in place of the base's.
struct LoraArrays {
  std::string where;
  std::map<std::string, Change> changes = {};
  std::map<std::string, const StoredArray*> whole = {};
  std::string name = {};  // of the adapter, where one is written
};

/// Keys of LoraConfig that compute something else where they hold anything.
constexpr const char* kOtherLora[] = {"layer_replication",       "target_parameters", "use_qalora",
                                      "alora_invocation_tokens", "arrow_config",      "trainable_token_indices"};
/// Parts of names that only adapters of other kinds have.
constexpr std::string_view kOtherAdapters[] = {
    ".ia3_l",          ".hada_w",         ".lokr_w",           ".oft_r",        ".boft_",
    ".vera_",          ".randlora_",      ".vblora_",          ".adaption_",    ".fourierft",
    "prefix_encoder.", "prompt_encoder.", "prompt_embeddings", ".adapter_down", ".adapter_up"};

bool holds_something(const json& value) {
  if (value.is_null() || value == json(false)) return false;
  return !(value.is_array() || value.is_object()) || !value.empty();
}

/// peft's rule: the pattern at the end of the module's name, behind a dot or the whole of it.
std::vector<ByPattern> patterns_from(const JsonField& root, const char* name) {
  std::vector<ByPattern> patterns;
  if (!root.has(name)) return patterns;
  for (const auto& [key, field] : root.at(name).fields()) {
    auto pattern = Regex::compile(root.problems().where + ": " + name, "^(.*\\.)?(" + key + ")$");
    if (!pattern) {
      if (!root.problems().first) root.problems().first = pattern.error();
      return {};
    }
    patterns.push_back({*std::move(pattern), static_cast<double>(field.number())});
  }
  return patterns;
}

Result<LoraConfig> read_lora_config(const fs::path& folder) {
  const fs::path path = folder / kAdapterConfig;
  const auto text = TRY(read_file(path, kMostAdapterConfig));
  const auto document = parse_json(path.string(), text);
  if (!document) return document.error();
  if (!document->is_object()) return bad_input(path.string(), "", "an object", found_text(*document));
  JsonProblems problems{.where = path.string()};
  const JsonField root(*document, "", problems);
  LoraConfig config{.where = path.string()};
  if (const std::string kind = root.text("peft_type", "LORA"); kind != "LORA")
    return bad_input(config.where, "peft_type", "LORA, the kind of adapter that is merged", quoted_word(kind));
  for (const char* key : kOtherLora)
    if (root.has(key) && holds_something(root.at(key).value())) root.at(key).problem("none, or null");
  if (root.has("r")) config.rank = root.integer("r", 1, kMostRank);
  if (root.has("lora_alpha")) config.alpha = static_cast<double>(root.number("lora_alpha"));
  config.rank_stabilised = root.flag("use_rslora", false);
  config.dora = root.flag("use_dora", false);
  config.ranks = patterns_from(root, "rank_pattern");
  config.alphas = patterns_from(root, "alpha_pattern");
  if (root.has("base_model_name_or_path")) config.base = root.text("base_model_name_or_path");
  if (const json& start = root.at("init_lora_weights").value(); start.is_string())
    for (const char* other : {"pissa", "olora", "loftq", "corda"})
      if (start.get_ref<const std::string&>().starts_with(other)) config.changes_base = start;
  if (problems.first) return *problems.first;
  return config;
}

Result<double> value_for(const std::vector<ByPattern>& patterns, const std::string& module, double otherwise) {
  if (patterns.empty()) return otherwise;
  const Letters letters = letters_of(module);
  for (const ByPattern& one : patterns) {
    const Pattern pattern = one.pattern;
    const auto found = TRY(Finder(pattern).find(LetterSpan(letters.data(), letters.size())));
    if (std::any_of(found.begin(), found.end(), [](const Stretch& part) { return part.found; })) return one.value;
  }
  return otherwise;
}

std::string without(std::string name, std::string_view part) {
  if (const auto at = name.find(part); at != name.npos) name.erase(at, part.size());
  return name;
}

/// Of lora_A.default.weight the part default.
std::string adapter_name(std::string_view rest) {
  const std::string name = without(without(std::string(rest), ".weight"), ".bias");
  return name.starts_with('.') ? name.substr(1) : name;
}

Status take_lora(std::string_view module, std::string_view rest, const StoredArray& array, LoraArrays& arrays) {
  static constexpr std::pair<std::string_view, const StoredArray * Change::*> kParts[] = {
      {"lora_A", &Change::a}, {"lora_B", &Change::b}, {"lora_magnitude_vector", &Change::magnitude}};
  const bool embedding = rest.starts_with("lora_embedding_");
  const std::string plain = without(std::string(rest), "embedding_");
  for (const auto& [begin, field] : kParts) {
    if (!plain.starts_with(begin)) continue;
    const std::string_view behind = std::string_view(plain).substr(begin.size());
    if (!behind.empty() && behind.front() != '.') continue;
    const std::string name = adapter_name(behind);
    if (!name.empty() && !arrays.name.empty() && name != arrays.name)
      return bad_input(array.where, "adapters", "one", quoted_word(arrays.name) + " and " + quoted_word(name));
    if (!name.empty()) arrays.name = name;
    Change& change = arrays.changes[std::string(module)];
    const bool bias = behind.ends_with(".bias");
    change.*(bias ? &Change::bias : field) = &array;
    change.embedding = change.embedding || embedding;
    return Done{};
  }
  return bad_input(array.where, printable(std::string(module) + "." + std::string(rest)),
                   "a tensor of LoRA (lora_A, lora_B, …)", "another");
}

Status expect_lora(const std::string& name, const StoredArray& array) {
  for (const std::string_view part : kOtherAdapters)
    if (name.find(part) != name.npos)
      return bad_input(array.where, printable(name), "LoRA, the kind of adapter that is merged",
                       "a tensor of another kind");
  return Done{};
}

/// Sorts an adapter's arrays, under the names that the base has.
Result<LoraArrays> sorted_arrays(std::string_view where, const std::map<std::string, StoredArray>& stored) {
  LoraArrays arrays{.where = std::string(where)};
  for (const auto& [stored_name, array] : stored) {
    TRY(expect_lora(stored_name, array));
    const std::string name = without(stored_name, "base_model.model.");
    if (const auto at = name.find(".lora_"); at != name.npos) {
      TRY(take_lora(name.substr(0, at), std::string_view(name).substr(at + 1), array, arrays));
      continue;
    }
    std::string plain = without(name, ".base_layer");
    if (const auto at = plain.find(".modules_to_save"); at != plain.npos) {
      const auto end = plain.rfind('.');
      plain = plain.substr(0, at) + plain.substr(end);
    }
    if (plain.find(".original_module") == plain.npos) arrays.whole.emplace(plain, &array);
  }
  return arrays;
}

Matrix matrix_of(const StoredArray& array) {
  Matrix matrix(array.shape.empty() ? 1 : array.shape.front(), array.shape.size() < 2 ? 1 : array.shape.back());
  std::vector<float> values;
  append_widened(array.dtype, false, array.bytes, values);
  std::copy(values.begin(), values.end(), matrix.data());
  return matrix;
}

/// Merges one adapter into the arrays of a base.
class AdapterMerge {
 public:
  AdapterMerge(const LoraConfig& config, const HubConfig& hub, StoredArrays& stored)
      : config_(config), hub_(hub), stored_(stored), rows_(tensor_names(hub, true)) {}

  Status take(const LoraArrays& arrays) {
    if (arrays.whole.empty() && arrays.changes.empty())
      return bad_input(arrays.where, "adapter", "tensors of LoRA (lora_A, lora_B, …)", "none",
                       ErrorCode::missing_tensor);
    for (const auto& [name, array] : arrays.whole) {
      const auto there = find(name);
      const std::string where = array->where;
      if (!there && name.ends_with(".bias") && find(without(name, ".bias") + ".weight")) return no_bias(where, name);
      if (there && stored_.arrays.at(*there).shape != array->shape)
        return bad_input(where, printable(name), shape_text(stored_.arrays.at(*there).shape), shape_text(array->shape),
                         ErrorCode::wrong_shape);
      stored_.arrays[there.value_or(name)] = *array;
    }
    for (const auto& [module, change] : arrays.changes) TRY(add(arrays.where, module, change));
    return Done{};
  }

 private:
  /// The base's name of an array, which may be part of a larger model in either file.
  std::optional<std::string> find(const std::string& name) const {
    const std::string before(prefix(hub_));
    for (std::string_view tail = name;;) {
      for (const std::string& one : {std::string(tail), before + std::string(tail)})
        if (stored_.arrays.contains(one)) return one;
      const auto dot = tail.find('.');
      if (dot == tail.npos) break;
      tail.remove_prefix(dot + 1);
    }
    return std::nullopt;
  }

  static Error no_bias(const std::string& where, const std::string& name) {
    return bad_input(where, printable(name), "a bias in the base, which it changes", "none", ErrorCode::missing_tensor);
  }

  /// Whether the family stores this weight (in, out).
  bool is_transposed(const std::string& module) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const Row& row) {
      const auto at = row.name.find("{layer}");
      return row.form == Form::transposed && at != row.name.npos && module.ends_with(row.name.substr(at + 7));
    });
  }

  Status add(const std::string& where, const std::string& module, const Change& change) {
    const auto base = find(module + ".weight");
    if (!base)
      return bad_input(where, printable(module), "a module of the base", "none of this name in its weights",
                       ErrorCode::missing_tensor);
    if (!change.a || !change.b)
      return bad_input(where, printable(module), "lora_A and lora_B", change.a ? "no lora_B" : "no lora_A",
                       ErrorCode::missing_tensor);
    const StoredArray& weight = stored_.arrays.at(*base);
    // As peft corrects fan_in_fan_out: by the kind of the layer.
    const bool turned = change.embedding || is_transposed(module);
    const double rank = TRY(value_for(config_.ranks, module, static_cast<double>(config_.rank)));
    if (!(rank >= 1 && rank <= kMostRank) || rank != std::floor(rank))
      return bad_input(config_.where, "rank_pattern", "whole ranks of 1 or more", formatted("%g", rank));
    if (weight.shape.size() != 2 || !is_floating(weight.dtype))
      return bad_input(weight.where, printable(*base), "a matrix of floating-point numbers", shape_text(weight.shape));
    const Index in = turned ? weight.shape[0] : weight.shape[1], out = turned ? weight.shape[1] : weight.shape[0];
    TRY(expect(*change.a, module + ".lora_A", {static_cast<Index>(rank), in}));
    TRY(expect(*change.b, module + ".lora_B", {out, static_cast<Index>(rank)}));
    const double alpha = TRY(value_for(config_.alphas, module, config_.alpha));
    const auto scale = static_cast<float>(alpha / (config_.rank_stabilised ? std::sqrt(rank) : rank));
    Matrix merged = matrix_of(weight);
    if (turned) merged.transposeInPlace();
    merged += scale * (matrix_of(*change.b) * matrix_of(*change.a));
    if (config_.dora || change.magnitude) TRY(stretch(where, module, change, out, merged));
    if (turned) merged.transposeInPlace();
    put(*base, where, array_of(merged));
    if (change.bias) TRY(add_bias(where, module, *change.bias, out, scale));
    return Done{};
  }

  Status expect(const StoredArray& array, const std::string& name, const std::vector<Index>& shape) const {
    if (!is_floating(array.dtype))
      return bad_input(array.where, printable(name), "floating-point numbers", headlight::name(array.dtype),
                       ErrorCode::whole_numbers);
    if (array.shape == shape) return Done{};
    return bad_input(array.where, printable(name), shape_text(shape) + ", as the base and the rank have it",
                     shape_text(array.shape), ErrorCode::wrong_shape);
  }

  /// DoRA: each output's weights have the length that is stored for it.
  Status stretch(const std::string& where, const std::string& module, const Change& change, Index out, Matrix& merged) {
    if (!change.magnitude || change.embedding)
      return bad_input(where, printable(module), "a magnitude vector of a linear layer (DoRA)",
                       change.embedding ? "a table of embeddings" : "none");
    const std::vector<Index> shape = change.magnitude->shape;
    if (num_elements(shape) != static_cast<std::size_t>(out) || !is_floating(change.magnitude->dtype))
      return expect(*change.magnitude, module + ".lora_magnitude_vector", {out});
    std::vector<float> lengths;
    append_widened(change.magnitude->dtype, false, change.magnitude->bytes, lengths);
    for (Index row = 0; row < out; ++row)
      merged.row(row) *= lengths[static_cast<std::size_t>(row)] / merged.row(row).norm();
    return Done{};
  }

  Status add_bias(const std::string& where, const std::string& module, const StoredArray& added, Index out,
                  float scale) {
    const auto base = find(module + ".bias");
    if (!base) return no_bias(where, module + ".lora_B.bias");
    TRY(expect(added, module + ".lora_B.bias", {out}));
    TRY(expect(stored_.arrays.at(*base), *base, {out}));
    Array array = array_of(matrix_of(stored_.arrays.at(*base)) + scale * matrix_of(added));
    array.shape = {out};
    put(*base, stored_.arrays.at(*base).where, std::move(array));
    return Done{};
  }

  void put(const std::string& name, const std::string& where, Array array) {
    ArrayFile file;
    file.arrays.emplace(name, std::move(array));
    stored_.arrays[name] = stored_in_memory(where, std::move(file)).arrays.at(name);
  }

  const LoraConfig& config_;
  const HubConfig& hub_;
  StoredArrays& stored_;
  std::vector<Row> rows_;
};

/// Takes the tensors of an adapter out of a model's own arrays, which then have the names of the family.
Result<StoredArrays> split_off(StoredArrays& stored) {
  StoredArrays lora, rest;
  for (auto& [name, array] : stored.arrays) {
    TRY(expect_lora(name, array));
    if (is_of_adapter(name)) lora.arrays.emplace(name, array);
    else
      rest.arrays.emplace(without(without(without(name, "base_model.model."), ".base_layer"), ".original_module"),
                          array);
  }
  rest.metadata = std::move(stored.metadata);
  stored = std::move(rest);
  return lora;
}

Result<StoredArrays> weights_of_adapter(const fs::path& folder) {
  if (path_exists(folder / "adapter_model.safetensors")) return map_safetensors(folder / "adapter_model.safetensors");
  if (path_exists(folder / "adapter_model.bin")) return map_torch(folder / "adapter_model.bin");
  return bad_input(folder.string(), "adapter", "adapter_model.safetensors or adapter_model.bin", "neither",
                   ErrorCode::file_absent);
}

/// Warnings of what merging may not be able to restore.
void warn_of_base(const LoraConfig& config, const HubConfig& hub, const LoraArrays& arrays,
                  std::vector<Error>& warnings) {
  if (!config.changes_base.empty())
    warnings.emplace_back(ErrorCode::bad_value, config.where,
                          "init_lora_weights is " + config.changes_base +
                              ", which changes the base's own weights: right only if the adapter was converted");
  const auto is_table = [](const auto& change) { return change.second.embedding; };
  if (hub.config.tied && std::any_of(arrays.changes.begin(), arrays.changes.end(), is_table))
    warnings.emplace_back(ErrorCode::bad_value, config.where,
                          "the table of embeddings is changed and the output layer is the same table: both are merged");
}

}  // namespace

bool has_adapter(const fs::path& folder) { return path_exists(folder / kAdapterConfig); }

Result<std::string> base_of_adapter(const fs::path& folder) {
  auto config = TRY(read_lora_config(folder));
  return std::move(config.base);
}

Status check_own_adapter(const StoredArrays& stored, const fs::path& folder) {
  for (const auto& [name, array] : stored.arrays)
    if (is_of_adapter(name) && !has_adapter(folder))
      return bad_input(array.where, printable(name),
                       "adapter_config.json beside it, which says by how much an adapter counts (--adapter none: as "
                       "if it were not there)",
                       "none", ErrorCode::file_absent);
  return Done{};
}

Result<StoredArrays> with_adapters(StoredArrays stored, const fs::path& folder, const HubConfig& hub,
                                   const AdapterChoice& choice, std::vector<Error>& warnings) {
  if (!choice.none) TRY(check_own_adapter(stored, folder));
  const auto own = TRY(split_off(stored));
  stored = unwrapped(std::move(stored), hub);
  const auto merge = [&](std::string_view where, const fs::path& of, const StoredArrays& weights) -> Status {
    const auto config = TRY(read_lora_config(of));
    const auto arrays = TRY(sorted_arrays(where, weights.arrays));
    warn_of_base(config, hub, arrays, warnings);
    return AdapterMerge(config, hub, stored).take(arrays);
  };
  if (choice.none) return stored;
  if (!own.arrays.empty()) TRY(merge(own.arrays.begin()->second.where, folder, own));
  std::vector<fs::path> folders = choice.folders;
  if (folders.empty() && own.arrays.empty() && has_adapter(folder)) folders.push_back(folder);
  for (const fs::path& one : folders) {
    const auto weights = TRY(weights_of_adapter(one));
    TRY(merge(weights.arrays.empty() ? one.string() : weights.arrays.begin()->second.where, one, weights));
  }
  return stored;
}

}  // namespace headlight
