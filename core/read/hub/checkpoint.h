// A folder in the Hugging Face layout, config.json beside model.safetensors, read into a Model.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "math/forward.h"
#include "model/weights.h"
#include "read/array/array.h"
#include "read/hub/adapter_choice.h"
#include "read/hub/config_file.h"

namespace headlight {

struct Checkpoint {
  std::shared_ptr<Model> model;  // not shared yet; null: it was stopped
  std::vector<Error> warnings;   // tensors that are not used, and the like
};

/// Weights in half precision that take no more bytes than this are widened to float32 as they are read; of more, those
/// of linear layers stay in their file and are widened as they are used.
inline constexpr std::size_t kMostWidenedBytes = std::size_t{512} << 20;

/// The families of hub_config.h, from one file or from shards. Half precision is widened to float32, exactly. Every
/// tensor of the family's table (tensor_names.h) must be there, of the shape that config.json demands, with finite
/// numbers; whatever else the files hold is a warning. The model has no vocabulary: its words are ids. Errors name the
/// file and the key or tensor, and weights that are larger than the machine's memory.
/// Files are mapped and read tensor by tensor: beside the matrices themselves, one tensor at a time is in memory. Where
/// `progress` is stopped the checkpoint has no model. `folder` may be one file of weights beside its config.json.
/// Adapters are merged (adapter.h).
Result<Checkpoint> read_checkpoint(const std::filesystem::path& folder, Progress& progress,
                                   std::size_t most_widened = kMostWidenedBytes, Reading reading = Reading::whole,
                                   const AdapterChoice& choice = {});
Result<Checkpoint> read_checkpoint(const std::filesystem::path& folder);

/// Checks of read_checkpoint that need no number: whether every tensor is there, of the right
/// kind and shape, and whether all fit this machine's memory. `where` names the arrays together.
Status check_tensors(std::string_view where, const HubConfig& hub, StoredArrays stored);

/// The same from arrays wherever they lie; `where` names them together.
Result<Checkpoint> checkpoint_from(std::string_view where, const HubConfig& hub, StoredArrays stored,
                                   Progress& progress, std::size_t most_widened = kMostWidenedBytes,
                                   Reading reading = Reading::whole);

/// The same from what was read already; `where` names the file of the arrays.
Result<Checkpoint> checkpoint_from(std::string_view where, const HubConfig& hub, ArrayFile file);

}  // namespace headlight
