// The model of a GGUF file: its metadata as the config.json of the family that llama.cpp converted, and its tensors
// under the names of that family, so that one reader of checkpoints serves both.
#pragma once

#include <filesystem>

#include "base/progress.h"
#include "base/result.h"
#include "read/gguf/gguf_file.h"
#include "read/hub/checkpoint.h"
#include "read/hub/config_file.h"
#include "read/hub/model_list.h"

namespace headlight {

struct GgufModel {
  HubConfig hub;
  StoredArrays stored;
};

/// Errors: an architecture that is not read, a key that is missing or absurd.
Result<GgufModel> gguf_model(GgufFile file);

/// A GGUF file, or what read_checkpoint reads. Weights in blocks stay in the file as halves do. Error: adapters for a
/// GGUF file.
Result<Checkpoint> read_any_checkpoint(const std::filesystem::path& path, Progress& progress,
                                       std::size_t most_widened = kMostWidenedBytes, Reading reading = Reading::whole,
                                       const AdapterChoice& choice = {});

/// The description of a folder with config.json or of a GGUF file.
ListedModel listed_folder_or_file(const KeptModel& kept);

}  // namespace headlight
