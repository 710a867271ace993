// Fields of a JSON document by name and type: the first that is not as it must be is remembered, with its path. What is
// read leniently (settings, a view) ignores that: a value that cannot be used leaves the default.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "base/result.h"

namespace headlight {

/// A value for the end of a message: its text where that is short, else its kind or the beginning of the string.
std::string found_text(const nlohmann::json& value);

/// Whether it is a whole number in [least, most].
bool is_whole(const nlohmann::json& value, std::int64_t least, std::uint64_t most);

/// The value of this key; null where `object` lacks it or is no object.
const nlohmann::json& value_or_null(const nlohmann::json& object, const char* key);

/// The first error while a document is read field by field.
struct JsonProblems {
  std::string where;  // the file
  std::optional<Error> first = {};

  void note(std::string_view path, std::string_view expected, std::string_view found);
  Status status() const { return first ? Status(*first) : Done{}; }
};

/// A value and the path to it. What is demanded of a value that is missing, null or of another type is a problem, and
/// answered with something empty; read() leaves the default of a field that is missing or wrong, and only the latter is
/// a problem.
class JsonField {
 public:
  JsonField(const nlohmann::json& value, std::string path, JsonProblems& problems)
      : value_(&value), path_(std::move(path)), problems_(&problems) {}

  const nlohmann::json& value() const { return *value_; }
  const std::string& path() const { return path_; }
  JsonProblems& problems() const { return *problems_; }
  void problem(std::string_view expected) const { problem(expected, *value_); }
  /// Of a part of the value.
  void problem(std::string_view expected, const nlohmann::json& found) const;
  bool is_good() const { return !problems_->first; }

  bool is_null() const { return value_->is_null(); }
  /// No such field is in its object.
  bool is_missing() const;
  /// Whether a field is there, null or not.
  bool contains(const char* name) const { return !at(name).is_missing(); }
  /// Whether a field is there and not null.
  bool has(const char* name) const { return !at(name).is_null(); }
  /// A field of an object, null where it is missing.
  JsonField at(const char* name) const;
  /// The items of a list, as fields.
  std::vector<JsonField> items() const;
  /// The fields of an object, by the order of their names.
  std::vector<std::pair<std::string, JsonField>> fields() const;

  std::string text() const;
  bool flag() const;
  /// Finite.
  float number() const;
  /// In [least, most].
  std::int64_t integer(std::int64_t least, std::int64_t most) const;

  std::string text(const char* name) const { return at(name).text(); }
  std::string text(const char* name, std::string_view fallback) const;
  bool flag(const char* name, bool fallback) const;
  float number(const char* name) const { return at(name).number(); }
  std::int64_t integer(const char* name, std::int64_t least, std::int64_t most) const {
    return at(name).integer(least, most);
  }

  void read(const char* name, std::string& value) const;
  void read(const char* name, bool& value) const;
  void read(const char* name, float& value) const;
  void read(const char* name, std::optional<float>& value) const;
  /// A whole number from 0 to `most`.
  template <class Integer>
  void read_integer(const char* name, Integer& value, std::uint64_t most) const {
    if (const JsonField field = at(name); field.is_whole_number(0, most)) value = field.value().get<Integer>();
  }
  /// A number, brought between `least` and `most`.
  void read_within(const char* name, float& value, float least, float most) const;
  /// A whole number from 0, at most `most`; 0 for anything else.
  std::size_t size(const char* name, std::size_t most) const;
  /// A list of whole numbers from `least` to `most`.
  template <class Integer>
  void read_list(const char* name, std::vector<Integer>& values, std::int64_t least, std::uint64_t most) const {
    if (const JsonField field = at(name); field.is_list_of_whole_numbers(least, most))
      values = field.value().get<std::vector<Integer>>();
  }
  /// A word that `parse` takes: std::optional<Value>(std::string_view).
  template <class Value, class Parse>
  void read_word(const char* name, Value& value, const Parse& parse, std::string_view expected) const {
    const JsonField field = at(name);
    if (field.is_missing()) return;
    const auto parsed = field.value().is_string() ? parse(field.value().get<std::string>()) : std::nullopt;
    if (parsed) value = *parsed;
    else field.problem(expected);
  }
  template <class Enum>
  void read_choice(const char* name, Enum& value, Names names) const {
    read_word(
        name, value, [&](std::string_view word) { return value_named<Enum>(names, word); }, listed(names));
  }

 private:
  /// False for a missing field; a field with another value is also reported as a problem.
  bool is_whole_number(std::int64_t least, std::uint64_t most) const;
  bool is_list_of_whole_numbers(std::int64_t least, std::uint64_t most) const;

  const nlohmann::json* value_;
  std::string path_;
  JsonProblems* problems_;
};

/// The first row of a list of lists that is no list as long as the first; nothing where all are, and a matrix of them
/// takes less memory than the parsed document. `rows` is not empty and begins with a list.
inline std::optional<std::size_t> odd_row(const nlohmann::json& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!rows[i].is_array() || rows[i].size() != rows[0].size()) return i;
  return std::nullopt;
}

}  // namespace headlight
