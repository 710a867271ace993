// Fields of a JSON document by name and type: the first that is not as it must be is remembered, with its path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace headlight {

/// The first error while a document is read field by field.
struct JsonProblems {
  std::string where;  // the file
  std::optional<Error> first = {};

  void note(std::string_view path, std::string_view expected, std::string_view found);
};

/// A value and the path to it. What is asked of a value that is not there, or not of the type, is a problem, and
/// answered with the fallback or something empty. A null counts as missing.
class JsonField {
 public:
  JsonField(const nlohmann::json& value, std::string path, JsonProblems& problems)
      : value_(&value), path_(std::move(path)), problems_(&problems) {}

  const nlohmann::json& value() const { return *value_; }
  const std::string& path() const { return path_; }
  JsonProblems& problems() const { return *problems_; }
  void problem(std::string_view expected) const;

  bool is_null() const { return value_->is_null(); }
  bool has(const char* name) const;
  /// A field of an object, null where it is missing.
  JsonField at(const char* name) const;
  /// The items of a list, as fields.
  std::vector<JsonField> items() const;
  /// The fields of an object, by the order of their names.
  std::vector<std::pair<std::string, JsonField>> fields() const;

  std::string text() const;
  bool flag() const;
  /// In [least, most].
  std::int64_t integer(std::int64_t least, std::int64_t most) const;

  std::string text(const char* name) const { return at(name).text(); }
  std::string text(const char* name, std::string_view fallback) const;
  bool flag(const char* name, bool fallback) const;
  std::int64_t integer(const char* name, std::int64_t least, std::int64_t most) const {
    return at(name).integer(least, most);
  }

 private:
  const nlohmann::json* value_;
  std::string path_;
  JsonProblems* problems_;
};

}  // namespace headlight
