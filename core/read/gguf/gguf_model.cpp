#include "read/gguf/gguf_model.h"

#include <algorithm>
#include <functional>

#include "base/formatted.h"
#include "base/utf8.h"
#include "read/gguf/gguf_tables.h"
#include "read/hub/families.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr std::string_view kBlock = "blk.", kLayerPlace = "{layer}", kExpert = "{expert}";
/// Factors of the frequencies, which are no weights.
constexpr std::string_view kRopeFactors = "rope_freqs.weight", kShortFactors = "rope_factors_short.weight",
                           kLongFactors = "rope_factors_long.weight";

/// The name in transformers, with {expert} for the number of one; unchanged where the tables have none.
std::string renamed(const std::string& stored, const json& tables) {
  const std::size_t ending = std::min(stored.rfind('.'), stored.size());
  std::string base = stored.substr(0, ending), layer;
  const std::size_t dot = base.starts_with(kBlock) ? base.find('.', kBlock.size()) : base.npos;
  if (dot != base.npos) {
    layer = base.substr(kBlock.size(), dot - kBlock.size());
    base.replace(kBlock.size(), layer.size(), kLayerPlace);
  }
  for (const json& table : tables) {
    const json& names = gguf_table("tensors")[table.get_ref<const std::string&>()];
    const auto found = names.find(base);
    if (found == names.end()) continue;
    std::string own = found->get<std::string>();
    if (const std::size_t at = own.find(kLayerPlace); at != own.npos) own.replace(at, kLayerPlace.size(), layer);
    return own + stored.substr(ending);
  }
  return stored;
}

/// Under the names of transformers, the experts of a layer each as a tensor.
StoredArrays renamed_arrays(const StoredArrays& stored, const json& tables) {
  StoredArrays result;
  for (const auto& [name, array] : stored.arrays) {
    if (name == kRopeFactors || name == kShortFactors || name == kLongFactors) continue;
    std::string own = renamed(name, tables);
    const std::size_t at = own.find(kExpert);
    if (at == own.npos || array.shape.size() != 3) {
      const bool one_row = own.ends_with("shared_expert_gate.weight") && array.shape.size() == 1;
      StoredArray& kept = result.arrays.emplace(std::move(own), array).first->second;
      if (one_row) kept.shape.insert(kept.shape.begin(), 1);
      continue;
    }
    const std::size_t size = array.bytes.size() / static_cast<std::size_t>(array.shape[0]);
    for (Index expert = 0; expert < array.shape[0]; ++expert) {
      StoredArray part = array;
      part.shape.erase(part.shape.begin());
      part.bytes = array.bytes.substr(static_cast<std::size_t>(expert) * size, size);
      std::string numbered = own;
      numbered.replace(at, kExpert.size(), std::to_string(expert));
      result.arrays.emplace(std::move(numbered), std::move(part));
    }
  }
  return result;
}

/// Under the first of the keys (a|b) that the file has: a number, or of a list the number that all layers have; of
/// @TENSOR its rows. null: it has none of them.
Result<json> stored_number(const GgufFile& file, const std::string& before, std::string_view keys) {
  for (const std::string_view key : split_at('|', keys)) {
    if (key.starts_with('@')) {
      const auto tensor = file.stored.arrays.find(std::string(key.substr(1)));
      return tensor == file.stored.arrays.end() ? json() : json(tensor->second.shape.front());
    }
    const std::string full = before + std::string(key);
    if (const auto whole = file.value<std::int64_t>(full)) return json(*whole);
    if (const auto number = file.number(full)) return json(*number);
    const GgufList* list = file.list(full);
    const std::vector<float> numbers = list ? list->numbers() : std::vector<float>();
    const bool differ = std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) != numbers.end();
    if (!numbers.empty() && !differ) return json(static_cast<std::int64_t>(std::clamp(numbers.front(), 0.0f, 1e9f)));
    if (file.find(full))
      return bad_input(file.where, full, differ ? "one number for all layers" : "a number",
                       differ ? "several" : "another value", ErrorCode::bad_config);
  }
  return json();
}

/// How queries and keys are rotated, where `width` columns of a head are.
Status add_rotation(const GgufFile& file, const std::string& before, std::int64_t width, json& config) {
  const json rotated = TRY(stored_number(file, before, "rope.dimension_count"));
  if (rotated.is_number() && rotated != width && width > 0)
    config["partial_rotary_factor"] = rotated.get<double>() / static_cast<double>(width);
  // As llama.cpp: linear where nothing is said, and beside the factors of longrope, which are tensors.
  auto type = file.value<std::string_view>(before + "rope.scaling.type").value_or("linear");
  if (type == "longrope") type = "linear";
  const json factor = TRY(stored_number(file, before, "rope.scaling.factor|rope.scale_linear"));
  if (type == "none" || (type == "linear" && (factor.is_null() || factor == 0 || factor == 1))) return Done{};
  json scaling{{"rope_type", printable(type)}, {"factor", factor}};
  const std::string inside = before + "rope.scaling.";
  for (const auto& [stored, own] : {std::pair{"original_context_length", "original_max_position_embeddings"},
                                    {"yarn_beta_fast", "beta_fast"},
                                    {"yarn_beta_slow", "beta_slow"}})
    if (const auto value = file.number(inside + stored)) scaling[own] = *value;
  config["rope_scaling"] = std::move(scaling);
  return Done{};
}

/// What is stated for Llama's relatives beside the tables: the width of a head and what depends on it, which layers see
/// a window, the rotation.
Status add_heads(const GgufFile& file, const std::string& before, const json& row, json& config) {
  const auto size = [&](const char* key) -> std::int64_t {
    const auto found = config.find(key);
    return found != config.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
  };
  const std::int64_t share = size("hidden_size") / std::max<std::int64_t>(size("num_attention_heads"), 1);
  if (!config.contains("head_dim")) config["head_dim"] = share;
  const std::int64_t width = size("head_dim");
  if (const json values = TRY(stored_number(file, before, "attention.value_length")); !values.is_null())
    if (values != width)
      return bad_input(file.where, before + "attention.value_length", "as key_length", "another width",
                       ErrorCode::bad_config);
  // Gemma's scale of the scores is not stored: that of the largest model of each generation is another than 1/√d_k
  // (Gemma Team 2024, table 1: 46 layers; 2025: 62).
  if (const auto wide = row.find("wide layers"); wide != row.end())
    config["query_pre_attn_scalar"] = config["num_hidden_layers"] == *wide ? share : width;
  const std::string pattern = before + "attention.sliding_window_pattern";
  if (const GgufList* layers = file.list(pattern)) {
    for (const float windowed : layers->numbers())
      config["layer_types"].push_back(windowed != 0 ? "sliding_attention" : "full_attention");
  } else if (const auto every = file.value<std::int64_t>(pattern)) {
    config["sliding_window_pattern"] = *every;
  }
  return add_rotation(file, before, width, config);
}

/// The keys of an architecture as those of config.json.
Result<json> config_of(const GgufFile& file, const std::string& before, const json& row) {
  json config{{"model_type", row["type"]},
              {"architectures", json::array({row.value("class", "LlamaForCausalLM")})},
              {"tie_word_embeddings", !file.stored.arrays.contains("output.weight")}};
  for (const json& table : row["config"])
    for (const auto& [key, wanted] : gguf_table("config")[table.get_ref<const std::string&>()].items()) {
      const json& keys = wanted.is_array() ? wanted[0] : wanted;
      json value = wanted.is_boolean() ? wanted : TRY(stored_number(file, before, keys.get_ref<const std::string&>()));
      if (value.is_null() && wanted.is_array()) value = wanted[1];
      else if (value.is_null() && keys.get_ref<const std::string&>().starts_with('@'))
        return bad_input(file.where, keys.get_ref<const std::string&>().substr(1), "a tensor", "none",
                         ErrorCode::missing_tensor);
      else if (value.is_null())
        return bad_input(file.where, before + keys.get<std::string>(), "a number", "none", ErrorCode::bad_config);
      if (!value.is_null()) config[key] = std::move(value);
    }
  if (config.contains("rope_theta")) TRY(add_heads(file, before, row, config));
  return config;
}

/// Of sines and cosines, whatever the kind of scaling.
Status apply_attention_factor(const GgufFile& file, const std::string& before, HubConfig& hub) {
  const std::string key = before + "rope.scaling.attn_factor";
  const double factor = file.number(key).value_or(1);
  if (!(factor > 0 && factor < 1e3))
    return bad_input(file.where, key, "a number above 0, below 1000", formatted("%g", factor), ErrorCode::bad_config);
  for (auto* rotary : {&hub.rotary, &hub.window_rotary})
    if (*rotary) (*rotary)->factor *= static_cast<float>(factor);
  return Done{};
}

/// Llama 3.1's and Phi-3's: a factor of each pair's wave, in a tensor. Of two, one is for texts up to the length that
/// the model was trained on, the other for longer ones, which are refused.
Status apply_rope_factors(const GgufFile& file, const std::string& before, HubConfig& hub) {
  const auto& arrays = file.stored.arrays;
  const bool by_length = arrays.contains(std::string(kShortFactors));
  const auto found = arrays.find(std::string(by_length ? kShortFactors : kRopeFactors));
  if (found == arrays.end() || !hub.rotary) return Done{};
  Vector& frequencies = hub.rotary->frequencies;
  const std::vector<Index> shape{frequencies.size()};
  if (found->second.shape != shape || found->second.dtype != Dtype::f32)
    return bad_input(file.where, found->first, "float32 " + shape_text(shape),
                     std::string(name(found->second.dtype)) + " " + shape_text(found->second.shape),
                     ErrorCode::wrong_shape);
  std::vector<float> factors;
  append_widened(Dtype::f32, false, found->second.bytes, factors);
  for (Index i = 0; i < frequencies.size(); ++i) {
    const float factor = factors[static_cast<std::size_t>(i)];
    if (!(factor > 1e-6f && factor < 1e6f))
      return bad_input(file.where, found->first + "[" + std::to_string(i) + "]", "a factor", formatted("%g", factor),
                       ErrorCode::bad_value);
    frequencies(i) /= factor;
  }
  if (!by_length) return Done{};
  if (const auto most = file.number(before + "rope.scaling.original_context_length"); most && *most >= 1 && *most < 1e9)
    hub.longest = LongestText{static_cast<Index>(*most), "as longer ones change the rotation"};
  return Done{};
}

/// Which linear layers have a bias is not in the metadata.
void take_biases(const StoredArrays& stored, Biases& bias) {
  const auto has = [&](const char* name) {
    return stored.arrays.contains(std::string(kBlock) + "0." + name + ".bias");
  };
  bias = {.query = has("attn_q") || has("attn_qkv"),
          .key = has("attn_k") || has("attn_qkv"),
          .value = has("attn_v") || has("attn_qkv"),
          .output = has("attn_output"),
          .ffn = has("ffn_up")};
}

}  // namespace

Result<GgufModel> gguf_model(GgufFile file) {
  const json& all = gguf_table("architectures");
  if (const auto type = file.value<std::string_view>("general.type").value_or("model"); type != "model")
    return bad_input(file.where, "general.type", "model", "'" + printable(type) + "'", ErrorCode::not_a_model);
  const std::string named(file.value<std::string_view>("general.architecture").value_or(""));
  const std::string before = named + ".";
  auto row = all.find(named);
  if (row == all.end()) {
    std::string known;
    for (const auto& [name, one] : all.items()) known += (known.empty() ? "" : ", ") + name;
    return bad_input(file.where, "general.architecture", known, named.empty() ? "none" : "'" + printable(named) + "'",
                     ErrorCode::unknown_model_type);
  }
  if (row->contains("with experts") && file.number(before + "expert_count").value_or(0) > 0)
    row = all.find((*row)["with experts"].get<std::string>());
  const json config = TRY(config_of(file, before, *row));
  auto hub = TRY(parse_hub_config(file.where, config.dump()));
  take_biases(file.stored, hub.config.bias);
  if (row->contains("moved norms")) hub.norms_store_rest = false;
  hub.stored_outputs_first = true;
  if (hub.rotary) hub.rotary->interleaved = row->contains("pairs");
  TRY(apply_attention_factor(file, before, hub));
  TRY(apply_rope_factors(file, before, hub));
  return GgufModel{.hub = std::move(hub), .stored = renamed_arrays(file.stored, (*row)["tensors"])};
}

Result<Checkpoint> read_any_checkpoint(const std::filesystem::path& path, Progress& progress, std::size_t most_widened,
                                       Reading reading, const AdapterChoice& choice) {
  if (!is_gguf(path)) return read_checkpoint(path, progress, most_widened, reading, choice);
  if (!choice.folders.empty())
    return bad_input(path.string(), "--adapter", "a folder of transformers to merge it with", "a GGUF file");
  auto file = TRY(map_gguf(path));
  const std::string where = file.where;
  auto parts = TRY(gguf_model(std::move(file)));
  auto checkpoint = checkpoint_from(where, parts.hub, std::move(parts.stored), progress, most_widened, reading);
  if (checkpoint && checkpoint->model) checkpoint->model->name = path.stem().string();
  return checkpoint;
}

ListedModel listed_folder_or_file(const KeptModel& kept) {
  if (kept.trouble || !is_gguf(kept.folder)) return listed_model(kept);
  ListedModel model{.name = kept.name, .folder = kept.folder};
  const auto refused = [&](const Error& error) {
    model.reason = without_folder(error.message(), kept.folder);
    return model;
  };
  auto file = map_gguf(kept.folder);
  if (!file) return refused(file.error());
  const std::string where = file->where;
  model.family = printable(file->value<std::string_view>("general.architecture").value_or(""));
  count_weights(file->stored, model);
  auto parts = gguf_model(*std::move(file));
  if (!parts) return refused(parts.error());
  model.family = name(*parts->hub.family);
  model.layers = parts->hub.config.num_layers;
  model.heads = parts->hub.config.num_heads;
  if (const auto fits = check_tensors(where, parts->hub, std::move(parts->stored)); !fits) return refused(fits.error());
  return model;
}

}  // namespace headlight
