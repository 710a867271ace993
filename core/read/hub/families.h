// The families of checkpoints, rows of families.json: names, tensors and what the keys of their config.json mean. What
// no row can express is a function of family_exceptions.cpp, which a row names.
#pragma once

#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/config.h"
#include "read/hub/config_file.h"
#include "read/hub/tensor_names.h"
#include "read/json/json_fields.h"

namespace headlight {

/// Spellings of one key, the usual one first.
using Keys = std::vector<std::string>;

/// The first wrong key is stored as the error; after it every answer is the fallback. null counts as missing.
class Keyed {
 public:
  Keyed(std::string_view where, const nlohmann::json& object) : where_(where), object_(object) {}

  const nlohmann::json* find(const Keys& keys) const;
  /// There, and null.
  bool is_null(const char* key) const;

  /// A whole number from `least` to `most`; without a fallback it must be there.
  Index size(const Keys& keys, Index most, std::optional<Index> fallback = std::nullopt, Index least = 1);
  /// Without a fallback it must be there.
  double number(const Keys& keys, double least, double most, std::optional<double> fallback = std::nullopt);
  bool flag(const Keys& keys, bool fallback);
  std::string word(const Keys& keys, std::string_view fallback);
  Activation activation(const Keys& keys, std::string_view fallback);

  /// An option of which only one value is understood.
  void only(const Keys& keys, bool supported);
  void only(const Keys& keys, std::string_view supported);
  void only(const Keys& keys, const char* supported) { only(keys, std::string_view(supported)); }  // which is no bool

  /// Whether the key was read.
  bool was_read(const char* key) const { return read_.contains(key); }

  void fail(const Keys& keys, std::string_view expected, std::string_view found);
  const std::optional<Error>& error() const { return error_; }

 private:
  std::string_view where_;
  const nlohmann::json& object_;
  mutable std::set<std::string, std::less<>> read_;
  std::optional<Error> error_;
};

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
/// Of families that read pictures (picture_layout.cpp).
void pictures(Keyed& keyed, const Family& family, HubConfig& hub);
void feed_forward_by_ratio(Keyed& keyed, const Family& family, HubConfig& hub);
void rotation_of_patches(Keyed& keyed, const Family& family, HubConfig& hub);
void bias_of_patches(Keyed& keyed, const Family& family, HubConfig& hub);
/// The models that are trained here: the standard blocks; config.json states the choices.
void read_headlight(Keyed& keyed, const Family& family, HubConfig& hub);

/// `heads` must divide `columns`, of which an error names the kind.
void check_divides(Keyed& keyed, const Keys& keys, Index heads, Index columns, std::string_view kind);
inline constexpr std::string_view kHiddenColumns = "columns of a hidden state", kQueryHeads = "attention heads";

/// Reads rope_theta and rope_scaling (or rope_parameters) into hub.rotary, and hub.longest where the frequencies would
/// depend on the length of the text. Kinds: default; linear, all frequencies divided (Chen et al. 2023); dynamic, which
/// changes nothing up to the trained length; llama3, the low ones divided (Llama 3.1); yarn (Peng et al. 2023).
/// hub.config must be there. A file that has neither key means `unsaid_theta` and `unsaid_share`: the share of a head's
/// columns that are rotated, the first ones; all columns in families without one.
void read_rope(Keyed& keyed, HubConfig& hub, double unsaid_theta = 10000, std::optional<double> unsaid_share = {});

/// theta^(−2i / columns) for each pair of so many columns, unscaled.
Rotary plain_rotary(Index columns, double theta, bool interleaved = false);

/// The rotation of the layers that see all keys ("full_attention") or a window ("sliding_attention"), where
/// rope_parameters has one for each kind, as transformers 5 writes; else null.
const nlohmann::json* rotation_of(const Keyed& keyed, const char* kind);

/// The base of the frequencies: of the rotation of this kind of layer, which must be a plain one, or under the key.
double read_theta(Keyed& keyed, const char* key, double unsaid, const char* kind);

}  // namespace headlight
