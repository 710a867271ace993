// The index of a checkpoint in shards: any bytes give names of files in the same folder, or one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/target.h"
#include "read/hub/weight_files.h"

HEADLIGHT_FUZZ_TARGET(shards) {
  const auto shards = headlight::parse_shard_index("fuzz", {reinterpret_cast<const char*>(data), size});
  if (!shards) {
    if (shards.error().message().find('\n') != std::string::npos) std::abort();
    return;
  }
  if (shards->empty()) std::abort();
  for (const auto& [tensor, shard] : *shards)
    if (shard.empty() || shard == ".." || shard.find('/') != std::string::npos) std::abort();
}
