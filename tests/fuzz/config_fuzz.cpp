// config.json of a checkpoint: any bytes give sizes that a model can have, or one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzz/target.h"
#include "read/hub/checkpoint.h"

HEADLIGHT_FUZZ_TARGET(config) {
  const auto hub = headlight::parse_hub_config("fuzz", {reinterpret_cast<const char*>(data), size});
  if (!hub) {
    if (hub.error().message().find('\n') != std::string::npos) std::abort();
    return;
  }
  if (!headlight::check(hub->config, headlight::kMaxStoredParameters)) std::abort();
  // No file at all: the first tensor is missing, before memory of any size is asked for.
  if (headlight::checkpoint_from("fuzz", *hub, headlight::ArrayFile{})) std::abort();
}
