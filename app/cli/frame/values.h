// What commands answer, in the form that each format needs: text for people, JSON, a table for csv, arrays for npz.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/matrix.h"
#include "base/result.h"
#include "explain/writers.h"
#include "model/tokens.h"
#include "write/arrays.h"

namespace headlight {

/// A text, a number, a truth value, or nothing: null in JSON, an empty field in CSV. Numbers are float32 in the fewest
/// digits that read back; one that is not finite is nothing.
class Value {
 public:
  Value() = default;
  Value(bool truth) : text_(truth ? "true" : "false") {}
  template <std::integral Number>
  Value(Number number) : text_(std::to_string(number)) {}
  Value(double number);
  Value(std::string text) : text_(std::move(text)), is_text_(true) {}
  Value(std::string_view text) : Value(std::string(text)) {}
  Value(const char* text) : Value(std::string(text)) {}
  template <class Known>
  Value(const std::optional<Known>& known) {
    if (known) *this = Value(*known);
  }
  /// `json` is one JSON value.
  static Value of_json(std::string json);

  std::string json() const;
  std::string csv() const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool is_text_ = false;
};

/// A number; one that is not finite as the text nan, inf or -inf.
Value spelled(float number);

/// {"name": value, …}
using Members = std::vector<std::pair<std::string, Value>>;
Value json_object(const Members& members);

/// [value, …] of the items.
template <class List, class ValueOf = std::identity>
Value json_list(const List& items, const ValueOf& value_of = {}, std::string_view between = ",") {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += between;
    text += Value(std::invoke(value_of, item)).json();
  }
  return Value::of_json(text + "]");
}

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Value>> rows = {};
};

/// A list of objects; the columns are their names.
Value json_rows(const Table& table);

using Arrays = std::vector<ArrayStream>;

/// An array of these numbers in C order.
/// The texts of these tokens.
ArrayStream array_of_tokens(std::string name, const Tokens& tokens);

/// (writers, 4): kind (0 embedding, 1 position, 2 type, 3 input, 4 head, 5 feed-forward, 6 bias, 7 relative, 8 mask),
/// stack (0 self, 1 encoder, 2 cross), layer, head.
ArrayStream array_of_writers(std::string name, const std::vector<Writer>& writers);

/// Columns for people, two blanks between them, the first line their names. Those of `right` stand to the right.
std::string aligned_text(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right = {});

struct NamedTerm {
  std::string name;
  double value = 0;
};

/// The largest `most` terms by |value|, one a line, and under them the sum of the others, or, where they have
/// no sum, their number.
std::string largest_terms(std::vector<NamedTerm> terms, Index most, bool summed = true);

/// Prints a JSON value as a line.
Result<int> print_json(const Value& value, int status = 0);

/// The answer to one question. Done: it was written to a file.
using Answer = std::variant<Done, std::string, Value, Table, Arrays>;

/// Prints answers of one form to standard output: texts with a blank line between them, a JSON value a line; several
/// tables as one with a last column `sentence`; the arrays of several under names that begin with `0.`, `1.`, …
Status print_answers(const std::vector<Answer>& answers);

}  // namespace headlight
