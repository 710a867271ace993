// The models on this disk, read from their configurations and the headers of their weights.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/index.h"
#include "read/array/array.h"
#include "read/hub/kept_models.h"

namespace headlight {

struct ListedModel {
  std::string name;              // as the command line takes it
  std::filesystem::path folder;  // that holds its config.json
  std::string family = {};       // model_type of its configuration, also of a family that cannot be read
  Index layers = 0, heads = 0;   // of the decoder where there are two stacks; 0: not known
  Index encoder_layers = 0, encoder_heads = 0;
  std::int64_t parameters = 0;  // numbers in its weights
  std::string dtype = {};       // NumPy's name of what most of its bytes are: float32, float16, bfloat16
  std::uint64_t bytes = 0;      // of its weights
  std::string reason = {};      // why it cannot be opened, in one line; empty: it can

  bool opens() const { return reason.empty(); }
};

/// The description of one folder with config.json.
ListedModel listed_model(const KeptModel& kept);

/// The headers of each model. It can be opened where read_checkpoint would find every tensor: no number is read.
std::vector<ListedModel> listed_models(const std::vector<KeptModel>& kept, int threads,
                                       ListedModel (*describe)(const KeptModel& kept) = listed_model);

/// Parameters, bytes and the kind of most numbers. A tensor that two names share is counted once.
void count_weights(const StoredArrays& stored, ListedModel& model);
/// A message of a file in `folder` without the folder, which the listing names.
std::string without_folder(std::string message, const std::filesystem::path& folder);

}  // namespace headlight
