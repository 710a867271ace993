#include "read/hub/adapter.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "base/utf8.h"
#include "read/array/safetensors.h"
#include "read/array/torch_file.h"
#include "read/hub/tensor_names.h"
#include "read/lora/lora_file.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

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
  AdapterMerge(const LoraConfig& config, HubConfig& hub, StoredArrays& stored)
      : config_(config), hub_(hub), stored_(stored), rows_(tensor_names(hub, true)) {}

  Status take(const LoraArrays& arrays) {
    if (arrays.whole.empty() && arrays.changes.empty())
      return bad_input(arrays.where, "adapter", "tensors of LoRA (lora_A, lora_B, …)", "none",
                       ErrorCode::missing_tensor);
    for (const auto& [name, array] : arrays.whole)
      if (!is_copy(name)) TRY(put_whole(name, *array));
    if (!config_.keeps_ties) untie(arrays);
    for (const auto& [name, array] : arrays.whole)
      if (is_copy(name)) TRY(put_whole(name, *array));
    for (const auto& [module, change] : arrays.changes) TRY(add(arrays.where, module, change));
    return Done{};
  }

 private:
  bool is_copy(const std::string& name) const {
    return std::any_of(config_.copies.begin(), config_.copies.end(),
                       [&](const std::string& module) { return name.find(module + ".") != name.npos; });
  }

  Status put_whole(const std::string& name, const StoredArray& array) {
    const auto there = find(name);
    if (!there && name.ends_with(".bias") && find(without(name, ".bias") + ".weight"))
      return no_bias(array.where, name);
    if (there && stored_.arrays.at(*there).shape != array.shape)
      return bad_input(array.where, printable(name), shape_text(stored_.arrays.at(*there).shape),
                       shape_text(array.shape), ErrorCode::wrong_shape);
    stored_.arrays[there.value_or(name)] = array;
    return Done{};
  }

  /// peft gives what it changes of two tied layers an array of its own: the base's table becomes two.
  void untie(const LoraArrays& arrays) {
    HubConfig untied = hub_;
    untied.config.tied = false;
    const bool tied = hub_.config.tied || (hub_.tied_where_absent && !begins(output_marker(untied)));
    std::optional<std::string> table, output;
    for (const Row& row : tensor_names(untied, true)) {
      const std::string name(row.name.substr(row.name.starts_with('/')));
      if (row.field == Field::tokens && row.part != StackPart::encoder) table = find(name);
      if (row.field == Field::output) output = name;
    }
    if (!tied || !table || !output) return;
    stored_.arrays[*output] = stored_.arrays.at(*table);
    const auto is_one = [&](const std::string& name) {
      const auto there = find(name);
      return there == table || there == output;
    };
    const bool changed = std::any_of(arrays.changes.begin(), arrays.changes.end(),
                                     [&](const auto& change) { return is_one(change.first + ".weight"); }) ||
                         std::any_of(arrays.whole.begin(), arrays.whole.end(),
                                     [&](const auto& whole) { return is_copy(whole.first) && is_one(whole.first); });
    if (changed) hub_.config.tied = false;
    else stored_.arrays.erase(*output);
  }

  bool begins(std::string_view text) const {
    const auto at = stored_.arrays.lower_bound(std::string(text));
    return at != stored_.arrays.end() && at->first.starts_with(text);
  }

  /// The base's name of an array, which may be part of a larger model in either file. Behind other words than those of
  /// wrappers it is an array of another part: of what reads pictures.
  std::optional<std::string> find(const std::string& name) const {
    const std::string before(prefix(hub_));
    for (std::string_view tail = name;;) {
      const std::string_view head = std::string_view(name).substr(0, name.size() - tail.size());
      if (!is_wrapping(head) && !(head.ends_with(before) && is_wrapping(head.substr(0, head.size() - before.size()))))
        break;
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
    if (array.shape == shape) return first_not_finite(array, name);
    return bad_input(array.where, printable(name), shape_text(shape) + ", as the base and the rank have it",
                     shape_text(array.shape), ErrorCode::wrong_shape);
  }

  static Status first_not_finite(const StoredArray& array, const std::string& name) {
    std::vector<float> values;
    append_widened(array.dtype, false, array.bytes, values);
    const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
    if (bad == values.end()) return Done{};
    const Index at = bad - values.begin(), columns = array.shape.back();
    const std::string row = array.shape.size() == 2 ? std::to_string(at / columns) + ", " : std::string();
    return not_finite(array.where, printable(name) + "[" + row + std::to_string(at % columns) + "]", *bad);
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
  HubConfig& hub_;
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

Result<StoredArrays> with_adapters(StoredArrays stored, const fs::path& folder, HubConfig& hub,
                                   const AdapterChoice& choice, std::vector<Error>& warnings) {
  if (!choice.none) TRY(check_own_adapter(stored, folder));
  const auto own = TRY(split_off(stored));
  stored = unwrapped(std::move(stored), hub);
  const auto merge = [&](std::string_view where, const fs::path& of, const StoredArrays& weights) -> Status {
    const auto config = TRY(read_lora_config(of));
    const auto arrays = TRY(sorted_arrays(where, weights.arrays));
    if (!config.changes_base.empty())
      warnings.emplace_back(ErrorCode::bad_value, config.where,
                            "init_lora_weights is " + config.changes_base +
                                ", which changes the base's own weights: right only if the adapter was converted");
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
