// JSON from outside, checked while it is parsed: nothing nests deep, no key stands twice, nothing throws.
#pragma once

#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace headlight {

/// Objects and arrays inside one another; a document that goes deeper is an Error.
inline constexpr int kMostJsonDepth = 64;

/// Empties a document of parse_json without taking memory, unlike its destructor, whose failure for lack of memory
/// nothing could handle.
void take_apart(nlohmann::json& document) noexcept;

/// A Result<nlohmann::json> that takes no memory where it ends.
class [[nodiscard]] ParsedJson {
 public:
  explicit ParsedJson(Result<nlohmann::json> parsed) : parsed_(std::move(parsed)) {}
  ParsedJson(ParsedJson&&) = default;
  ParsedJson& operator=(ParsedJson&&) = delete;
  ~ParsedJson() {
    if (parsed_) take_apart(*parsed_);
  }

  explicit operator bool() const { return static_cast<bool>(parsed_); }
  nlohmann::json& operator*() & { return *parsed_; }
  const nlohmann::json& operator*() const& { return *parsed_; }
  nlohmann::json&& operator*() && { return *std::move(parsed_); }
  nlohmann::json* operator->() { return &*parsed_; }
  const nlohmann::json* operator->() const { return &*parsed_; }
  const Error& error() const { return parsed_.error(); }

 private:
  Result<nlohmann::json> parsed_;
};

/// Parses one JSON document (UTF-8). Of the outermost object the value of the key `left_out` is checked, not kept.
/// Errors name the line and column, the repeated key, or the depth.
ParsedJson parse_json(std::string_view where, std::string_view text, std::string_view left_out = {});

/// The same of what Python's json wrote: NaN, Infinity and -Infinity, which JSON does not have, are texts, which are
/// wrong wherever a number is read; with `gaps` null.
ParsedJson parse_python_json(std::string_view where, std::string_view text, bool gaps = false);

}  // namespace headlight
