// The weights of a folder in the Hugging Face layout: model.safetensors or pytorch_model.bin, or shards and the index
// that lists them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "read/array/array.h"

namespace headlight {

struct WeightFiles {
  std::string where;  // what messages about all of them name: the file, or the index
  StoredArrays stored;
};

/// All arrays of the folder, where they lie; or of one file of weights. Errors: no weights, a shard whose name is not a
/// plain file name, a tensor that is not in the shard that the index names or is in two.
Result<WeightFiles> open_weights(const std::filesystem::path& path);

/// Whether the folder has weights: a whole file or the index of shards.
bool has_weights(const std::filesystem::path& folder);

/// The shards that the folder's index names and the folder has not.
std::vector<std::string> missing_weights(const std::filesystem::path& folder);

/// Whether this is the name of one of the files that open_weights reads in a folder: weights, a shard or the index.
bool is_weight_file(std::string_view name);

/// The shard of each tensor, as the index states it: at least one. Errors as above.
Result<std::map<std::string, std::string>> parse_shard_index(std::string_view where, std::string_view text);

/// What a folder without config.json has, for a message: a tokenizer alone, or no config.json.
std::string found_without_config(const std::filesystem::path& folder);

/// An error of the folder's config.json; of an unknown family what the folder is, where another program wrote it.
Error error_of_config(const Error& error, const std::filesystem::path& folder);

}  // namespace headlight
