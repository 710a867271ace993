#include "read/hub/model_list.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/file.h"
#include "base/parallel.h"
#include "base/utf8.h"
#include "read/array/quantized.h"
#include "read/hub/adapter.h"
#include "read/hub/checkpoint.h"
#include "read/hub/weight_files.h"
#include "read/json/json_document.h"

namespace headlight {
namespace {

/// The family and the sizes as far as a configuration states them, whatever else is wrong with it.
void read_sizes(const nlohmann::json& config, ListedModel& model) {
  const auto size = [&](std::initializer_list<const char*> keys) -> Index {
    for (const char* key : keys)
      if (const auto at = config.find(key);
          at != config.end() && at->is_number_unsigned() && at->get<std::uint64_t>() <= kMaxPositions)
        return static_cast<Index>(at->get<std::uint64_t>());
    return 0;
  };
  if (const auto type = config.find("model_type"); type != config.end() && type->is_string())
    model.family = printable(type->get_ref<const std::string&>());
  model.layers = size({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
  model.heads = size({"num_attention_heads", "n_head", "n_heads", "num_heads"});
}

}  // namespace

std::string without_folder(std::string message, const std::filesystem::path& folder) {
  const std::string begin = folder.string();
  if (message.starts_with(begin)) message.erase(0, begin.size());
  message.erase(0, message.find_first_not_of("/: "));
  return message;
}

void count_weights(const StoredArrays& stored, ListedModel& model) {
  std::set<const char*> seen;
  std::map<Dtype, std::uint64_t> bytes;
  for (const auto& [name, array] : stored.arrays) {
    if (array.bytes.empty() || !seen.insert(array.bytes.data()).second) continue;
    model.bytes += array.bytes.size();
    if (!is_floating(array.dtype)) continue;
    model.parameters += static_cast<std::int64_t>(count_of(array));
    bytes[array.dtype] += array.bytes.size();
  }
  const auto most =
      std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != bytes.end()) model.dtype = name(most->first);
}

/// Of weights without their bytes, beside arrays that were not quantized.
void count_quantized(const StoredArrays& weights, ListedModel& model) {
  model.parameters = 0;
  for (const auto& [name, array] : weights.arrays)
    if (is_floating(array.dtype)) model.parameters += static_cast<std::int64_t>(num_elements(array.shape).value_or(0));
  model.dtype = "quantized";
}

ListedModel listed_model(const KeptModel& kept) {
  constexpr std::size_t kMostConfigBytes = std::size_t{16} << 20;
  ListedModel model{.name = kept.name, .folder = kept.folder, .reason = message_of(kept.trouble)};
  if (kept.trouble) return model;
  const auto refused = [&](const Error& error) {
    model.reason = without_folder(error.message(), kept.folder);
    return model;
  };
  const auto path = kept.folder / "config.json";
  const auto text = read_file(path, kMostConfigBytes);
  if (!text) return refused(text.error());
  const auto config = parse_python_json(path.string(), *text);
  if (!config) return refused(config.error());
  if (config->is_object()) read_sizes(*config, model);
  const auto hub = parse_hub_config(path.string(), *text);
  if (hub) {
    model.layers = hub->config.num_layers;
    model.heads = hub->config.num_heads;
    if (hub->config.arch == Arch::encoder_decoder) {
      model.encoder_layers = hub->config.layers_of_encoder();
      model.encoder_heads = hub->encoder_heads > 0 ? hub->encoder_heads : model.heads;
    }
    if (model.family.empty() && hub->family) model.family = name(*hub->family);  // known by its architectures
  }
  auto files = open_weights(kept.folder);
  if (files) count_weights(files->stored, model);
  if (!hub) return refused(error_of_config(hub.error(), kept.folder));
  if (!files) return refused(files.error());
  if (const auto counted = check_own_adapter(files->stored, kept.folder); !counted) return refused(counted.error());
  auto weights = put_together(std::move(files->stored), hub->quantization, true);
  if (!weights) return refused(weights.error());
  if (hub->quantization.method != Quantization::Method::none) count_quantized(*weights, model);
  if (const auto fits = check_tensors(files->where, *hub, *std::move(weights)); !fits) return refused(fits.error());
  return model;
}

std::vector<ListedModel> listed_models(const std::vector<KeptModel>& kept, int threads,
                                       ListedModel (*describe)(const KeptModel& kept)) {
  std::vector<ListedModel> models(kept.size());
  parallel_for(static_cast<Index>(kept.size()), threads, [&](Index at) {
    const auto i = static_cast<std::size_t>(at);
    models[i] = describe(kept[i]);
  });
  return models;
}

}  // namespace headlight
