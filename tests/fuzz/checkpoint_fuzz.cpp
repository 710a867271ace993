// The weights of a checkpoint, beside a configuration that is good: any bytes give a model that answers, or one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzz/target.h"
#include "math/forward.h"
#include "read/array/safetensors.h"
#include "read/hub/checkpoint.h"

namespace {

constexpr std::string_view kConfig = R"({"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "vocab_size": 3,
  "hidden_size": 2, "num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 2,
  "intermediate_size": 1, "tie_word_embeddings": true})";

void check(const headlight::Checkpoint& checkpoint) {
  headlight::Tokens tokens;
  for (int id = 0; id < 3; ++id) tokens.tokens.push_back({.id = id, .text = "w", .raw = "w"});
  const auto answer = headlight::forward(
      {.model = checkpoint.model, .config = checkpoint.model->config, .tokens = tokens, .mask = {.causal = true}});
  // Weights are finite; what is computed with them may overflow, which is told.
  if (answer && !(*answer)->last_hidden_state().allFinite()) std::abort();
}

}  // namespace

HEADLIGHT_FUZZ_TARGET(checkpoint) {
  const auto hub = headlight::parse_hub_config("config.json", kConfig);
  if (!hub) std::abort();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Once in place, once widened and in half precision left where it is.
  for (const std::size_t most_widened : {headlight::kMostWidenedBytes, std::size_t{0}}) {
    auto stored = headlight::locate_safetensors("fuzz", bytes);
    if (!stored) {
      if (stored.error().message().find('\n') != std::string::npos) std::abort();
      return;
    }
    headlight::Progress progress;
    const auto checkpoint = headlight::checkpoint_from("fuzz", *hub, std::move(*stored), progress, most_widened);
    if (checkpoint) check(*checkpoint);
    else if (checkpoint.error().message().find('\n') != std::string::npos) std::abort();
  }
}
