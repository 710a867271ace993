#include "read/hub/wrapped_names.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "read/hub/tensor_names.h"

namespace headlight {
namespace {

/// The prefixes of training programs (Lightning, DataParallel, torch.compile, FSDP) and of models that read pictures too.
constexpr std::string_view kTextModel = "language_model.";
constexpr std::string_view kWrappers[] = {
    "model.", "module.", "_orig_mod.", "_forward_module.", "_fsdp_wrapped_module.", kTextModel};

bool is_wrapping(std::string_view text) {
  while (!text.empty()) {
    const auto at = std::find_if(std::begin(kWrappers), std::end(kWrappers),
                                 [text](std::string_view wrapper) { return text.starts_with(wrapper); });
    if (at == std::end(kWrappers)) return false;
    text.remove_prefix(at->size());
  }
  return true;
}

}  // namespace

StoredArrays unwrapped(StoredArrays stored, const HubConfig& hub) {
  const std::string begin(prefix(hub));
  std::vector<std::string> tables;  // under which token vectors may stand
  for (const Row& row : tensor_names(hub, false)) {
    if (row.field != Field::tokens) continue;
    std::vector<std::string_view> spellings{row.name};
    spellings.insert(spellings.end(), row.also.begin(), row.also.end());
    for (const std::string_view name : spellings) {
      if (name.starts_with('/')) continue;
      tables.emplace_back(name);
      tables.push_back(begin + std::string(name));
    }
  }
  std::optional<std::string> wrapper;
  for (const auto& [name, array] : stored.arrays)
    for (const std::string& table : tables) {
      if (!name.ends_with(table)) continue;
      const std::string before = name.substr(0, name.size() - table.size());
      if (is_wrapping(before) && (!wrapper || before.size() < wrapper->size())) wrapper = before;
    }
  if (!wrapper || wrapper->empty()) return stored;
  // Where what reads pictures stands beside the text in the family's own prefix, the text's names get it again.
  const std::string again = wrapper->ends_with(kTextModel) && wrapper->starts_with(begin) ? begin : std::string();
  StoredArrays plain{.arrays = {}, .metadata = std::move(stored.metadata)};
  for (auto& [name, array] : stored.arrays)
    plain.arrays.emplace(name.starts_with(*wrapper) ? again + name.substr(wrapper->size()) : name, std::move(array));
  return plain;
}

}  // namespace headlight
