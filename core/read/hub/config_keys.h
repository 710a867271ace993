// The keys of one object in a config.json, each read as what it must be.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/config.h"
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

  /// Whether anything has asked for the key.
  bool was_read(const char* key) const { return read_.contains(key); }

  void fail(const Keys& keys, std::string_view expected, std::string_view found);
  const std::optional<Error>& error() const { return error_; }

 private:
  std::string_view where_;
  const nlohmann::json& object_;
  mutable std::set<std::string, std::less<>> read_;
  std::optional<Error> error_;
};

}  // namespace headlight
