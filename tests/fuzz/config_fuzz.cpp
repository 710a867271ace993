// config.json of a checkpoint: any bytes give sizes that a model can have, or one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "read/hub/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto hub = headlight::parse_hub_config("fuzz", {reinterpret_cast<const char*>(data), size});
  if (!hub) {
    if (hub.error().message.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  if (!headlight::check(hub->config, headlight::kMaxStoredParameters)) std::abort();
  // No file at all: the first tensor is missing, before memory of any size is asked for.
  if (headlight::checkpoint_from("fuzz", *hub, headlight::ArrayFile{})) std::abort();
  return 0;
}
