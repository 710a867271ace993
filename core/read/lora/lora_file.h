// The files of a LoRA adapter: what peft's LoraConfig says of it, and its tensors, sorted by the modules that they
// change. Whether a base has these modules is not known here.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "read/array/array.h"
#include "text/pattern.h"

namespace headlight {

inline constexpr const char* kAdapterConfig = "adapter_config.json";
inline constexpr std::int64_t kMostRank = 1 << 16;

struct ByPattern {
  Regex pattern;
  double value;
};

struct LoraConfig {
  std::string where;
  std::int64_t rank = 8;
  double alpha = 8;
  bool rank_stabilised = false, dora = false;
  std::vector<ByPattern> ranks = {}, alphas = {};
  std::string base = {};
  std::string changes_base = {};         // the method of init_lora_weights that leaves other weights in the base
  std::vector<std::string> copies = {};  // modules_to_save
  bool keeps_ties = false;               // a table that is the output layer too stays so
};

/// What one module gains.
struct Change {
  const StoredArray *a = nullptr, *b = nullptr, *magnitude = nullptr, *bias = nullptr;
  bool embedding = false;
};

/// The arrays of an adapter by the modules of the base, and those that stand in place of the base's.
struct LoraArrays {
  std::string where;
  std::map<std::string, Change> changes = {};
  std::map<std::string, const StoredArray*> whole = {};
  std::string name = {};  // of the adapter, where one is written
};

/// Of the configuration in this folder.
Result<LoraConfig> read_lora_config(const std::filesystem::path& folder);

/// The value of the first pattern that a module fits.
Result<double> value_for(const std::vector<ByPattern>& patterns, const std::string& module, double otherwise);

/// An Error where only adapters of other kinds have a tensor of this name.
Status expect_lora(const std::string& name, const StoredArray& array);

/// Under the names that the base has; they point into `stored`.
Result<LoraArrays> sorted_arrays(std::string_view where, const std::map<std::string, StoredArray>& stored);

/// The name without the first such part.
std::string without(std::string name, std::string_view part);

}  // namespace headlight
