// adapter_config.json of any bytes beside one layer's weights with an adapter among them: the weights are merged and
// keep their shapes, or one line says why not.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/kept_file.h"
#include "fuzz/target.h"
#include "read/hub/adapter.h"

namespace {

using namespace headlight;

constexpr std::string_view kBase = R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 11,
  "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 12, "hidden_act": "silu"})";
constexpr const char* kQuery = "model.layers.0.self_attn.q_proj";

Array halves(std::vector<Index> shape) {
  const std::size_t count = *num_elements(shape);
  return {.shape = std::move(shape), .values = std::vector<float>(count, 0.5f)};
}

StoredArrays weights() {
  ArrayFile file;
  const std::string query = kQuery, adapted = "base_model.model." + query;
  file.arrays[query + ".weight"] = file.arrays["model.layers.0.self_attn.v_proj.weight"] = halves({8, 8});
  file.arrays["model.embed_tokens.weight"] = halves({11, 8});
  file.arrays[adapted + ".lora_A.weight"] = halves({2, 8});
  file.arrays[adapted + ".lora_B.weight"] = halves({8, 2});
  return stored_in_memory("fuzz", std::move(file));
}

}  // namespace

HEADLIGHT_FUZZ_TARGET(adapter) {
  static const FuzzFolder folder;
  static const auto hub = parse_hub_config("fuzz", kBase);
  require(bool(hub));
  folder.holding("adapter_config.json", {reinterpret_cast<const char*>(data), size});
  if (const auto base = base_of_adapter(folder.path()); !base) require_line(base.error().message());
  std::vector<Error> warnings;
  HubConfig of_base = *hub;
  const auto merged = with_adapters(weights(), folder.path(), of_base, {}, warnings);
  for (const Error& warning : warnings) require_line(warning.message());
  if (!merged) return require_line(merged.error().message());
  require(merged->arrays.size() == 3 &&
          merged->arrays.at(std::string(kQuery) + ".weight").shape == std::vector<Index>{8, 8});
}
