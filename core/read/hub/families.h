// The families of checkpoints, rows of families.json: names, tensors and what the keys of their config.json mean. What
// no row can express is a function of family_exceptions.cpp, which a row names.
#pragma once

#include <algorithm>
#include <cassert>
#include <iterator>
#include <string_view>
#include <vector>

#include "read/hub/config_file.h"
#include "read/hub/config_keys.h"
#include "read/hub/tensor_names.h"

namespace headlight {

/// The entry of this name, which must be there: the table of families names it.
template <class Entries>
const auto& named(const Entries& entries, std::string_view name) {
  const auto found =
      std::find_if(std::begin(entries), std::end(entries), [name](const auto& one) { return one.name == name; });
  assert(found != std::end(entries));
  return *found;
}

/// What is known of a Field without a model.
struct FieldRow {
  std::string_view name;
  FieldKind kind;
  Index (*rows)(const HubConfig& hub, StackPart part);
  Index (*cols)(const HubConfig& hub, StackPart part);
  bool Biases::*bias = nullptr;  // whether a linear layer has one; null: it has
};
/// "NAME KIND ROWS COLUMNS [BIAS]", the sizes by names that tensor_names.cpp knows.
FieldRow parsed_field(std::string_view text);
/// In the order of Field.
const std::vector<FieldRow>& all_fields();

/// A tensor of a family and the conditions, all of which a configuration must meet to have it.
struct TensorPattern {
  Row row;
  bool of_both_stacks = false;  // where there are two
  std::vector<std::string_view> conditions = {};
};

struct Family {
  nlohmann::json row = {};                                // of families.json
  std::vector<std::string_view> types = {};               // values of model_type; the first is the family's name
  std::string_view prefix = {};                           // of the tensors' names (tensor_names.h)
  std::string_view output_prefix = {}, tied_prefix = {};  // of arrays that only a model with an output layer has
  std::vector<TensorPattern> tensors = {};
};
const std::vector<Family>& all_families();

/// The row of the family that has this model_type; null where none has it.
const Family* family_of(std::string_view type);

/// families.json, which is part of the program.
std::string_view families_text();

/// What the row of a family makes of a config.json; the first error stays in the Keyed.
HubConfig family_config(Keyed& keyed, const Family& family);

/// What a row cannot express: reads further keys into a HubConfig whose sizes are read.
using FamilyException = void (*)(Keyed& keyed, const Family& family, HubConfig& hub);
FamilyException family_exception(std::string_view name);

/// The models that are trained here (headlight_family.cpp).
void read_headlight(Keyed& keyed, const Family& family, HubConfig& hub);

/// `heads` must divide `columns`, of which an error names the kind.
void check_divides(Keyed& keyed, const Keys& keys, Index heads, Index columns, std::string_view kind);
inline constexpr std::string_view kHiddenColumns = "columns of a hidden state", kQueryHeads = "attention heads";

}  // namespace headlight
