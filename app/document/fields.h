// Reads an untrusted JSON object field by field; an absent field keeps its default.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/names.h"
#include "base/result.h"
#include "read/array/array.h"

namespace headlight {

/// Reads fields one after another and keeps the first error.
class Fields {
 public:
  Fields(std::string where, const nlohmann::json& object) : where_(std::move(where)), object_(object) {}

  const nlohmann::json* find(const char* key) const {
    const auto at = object_.find(key);
    return at == object_.end() ? nullptr : &*at;
  }
  void fail(std::string_view key, std::string_view expected, const nlohmann::json& found) {
    if (status_) status_ = bad_input(where_, key, expected, printable(found.dump()));
  }
  void read(const char* key, std::string& value) {
    if (const nlohmann::json* at = find(key))
      at->is_string() ? void(value = at->get<std::string>()) : fail(key, "a string", *at);
  }
  void read(const char* key, bool& value) {
    if (const nlohmann::json* at = find(key))
      at->is_boolean() ? void(value = at->get<bool>()) : fail(key, "true or false", *at);
  }
  template <class Integer>
  void read_integer(const char* key, Integer& value, std::uint64_t most) {
    const nlohmann::json* at = find(key);
    if (!at) return;
    if (at->is_number_unsigned() && at->get<std::uint64_t>() <= most)
      value = static_cast<Integer>(at->get<std::uint64_t>());
    else fail(key, "a whole number up to " + std::to_string(most), *at);
  }
  void read(const char* key, float& value) {
    const nlohmann::json* at = find(key);
    if (!at) return;
    if (at->is_number() && std::isfinite(at->get<float>())) value = at->get<float>();
    else fail(key, "a number", *at);
  }
  void read(const char* key, std::optional<float>& value) {
    float read_value = 0;
    read(key, read_value);
    if (find(key) && status_) value = read_value;
  }
  /// A list of whole numbers from `least` to `most`.
  template <class Integer>
  void read_list(const char* key, std::vector<Integer>& values, std::int64_t least, std::int64_t most) {
    const nlohmann::json* at = find(key);
    if (!at) return;
    const auto fits = [&](const nlohmann::json& item) {
      return item.is_number_integer() &&
             (!item.is_number_unsigned() || item.get<std::uint64_t>() <= std::uint64_t{1} << 62) &&
             item.get<std::int64_t>() >= least && item.get<std::int64_t>() <= most;
    };
    if (!at->is_array() || !std::all_of(at->begin(), at->end(), fits))
      return fail(key, "a list of whole numbers up to " + std::to_string(most), *at);
    values = at->get<std::vector<Integer>>();
  }
  template <class Enum>
  void read_choice(const char* key, Enum& value, Names names) {
    const nlohmann::json* at = find(key);
    if (!at) return;
    const auto named = at->is_string() ? value_named<Enum>(names, at->get<std::string>()) : std::nullopt;
    if (named) value = *named;
    else fail(key, listed(names), *at);
  }

  const std::string& where() const { return where_; }
  const Status& status() const { return status_; }

 private:
  std::string where_;
  const nlohmann::json& object_;
  Status status_ = Done{};
};

}  // namespace headlight
