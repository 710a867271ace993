#include "cli/frame/values.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/file.h"
#include "base/formatted.h"
#include "base/utf8.h"
#include "cli/options/print.h"
#include "write/export.h"
#include "write/json.h"
#include "write/npz.h"

namespace headlight {

Value::Value(double number) { append_number(text_, static_cast<float>(number)); }

Value Value::of_json(std::string json) {
  Value value;
  value.text_ = std::move(json);
  return value;
}

std::string Value::json() const { return is_text_ ? json_string(text_) : text_.empty() ? "null" : text_; }

std::string Value::csv() const { return is_text_ ? csv_field(text_) : text_; }

Value spelled(float number) {
  if (std::isfinite(number)) return number;
  return std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
}

Value json_object(const Members& members) {
  const auto member = [](const auto& one) { return json_string(one.first) + ":" + one.second.json(); };
  return Value::of_json("{" + joined_texts(members, ",", member) + "}");
}

Value json_rows(const Table& table) {
  return json_list(table.rows, [&](const std::vector<Value>& row) {
    Members members;
    for (std::size_t i = 0; i < row.size(); ++i) members.emplace_back(table.columns[i], row[i]);
    return json_object(members);
  });
}

ArrayStream array_of_tokens(std::string name, const Tokens& tokens) {
  std::vector<std::string> texts;
  for (const Token& token : tokens.tokens) texts.push_back(token.text);
  return array_of_texts(std::move(name), texts);
}

ArrayStream array_of_writers(std::string name, const std::vector<Writer>& writers) {
  std::vector<float> numbers;
  for (const Writer& writer : writers)
    for (const Index number :
         {static_cast<Index>(writer.kind), static_cast<Index>(writer.head.stack), writer.head.layer, writer.head.head})
      numbers.push_back(static_cast<float>(number));
  return array_of(std::move(name), {static_cast<Index>(writers.size()), 4}, std::move(numbers));
}

std::string aligned_text(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], code_points(row[i]).size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string filled = padded(row[i], widths[i]);
      line += i == 0 ? "" : "  ";
      line += i < right.size() && right[i] ? filled.substr(row[i].size()) + row[i] : filled;
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string largest_terms(std::vector<NamedTerm> terms, Index most, bool summed) {
  std::ranges::stable_sort(
      terms, [](const NamedTerm& a, const NamedTerm& b) { return std::abs(a.value) > std::abs(b.value); });
  auto shown = std::min(static_cast<std::size_t>(most), terms.size());
  if (shown + 1 == terms.size()) ++shown;  // a line about one other is a line, too
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += formatted("%+12.6f  ", terms[i].value) + terms[i].name + "\n";
  if (shown == terms.size()) return text;
  if (!summed) return text + "and " + std::to_string(terms.size() - shown) + " more (--format csv)\n";
  double rest = 0;
  for (std::size_t i = shown; i < terms.size(); ++i) rest += terms[i].value;
  return text + formatted("%+12.6f  ", rest) + "the other " + std::to_string(terms.size() - shown) + "\n";
}

namespace {

std::string csv_of(const std::vector<Answer>& answers) {
  const bool several = answers.size() > 1;
  std::string text = joined_texts(std::get<Table>(answers.front()).columns, ",") + (several ? ",sentence\n" : "\n");
  for (std::size_t i = 0; i < answers.size(); ++i)
    for (const std::vector<Value>& row : std::get<Table>(answers[i]).rows)
      text += joined_texts(row, ",", &Value::csv) + (several ? "," + std::to_string(i) : "") + "\n";
  return text;
}

Status print_npz(const std::vector<Answer>& answers) {
  Arrays arrays;
  for (std::size_t i = 0; i < answers.size(); ++i)
    for (ArrayStream array : std::get<Arrays>(answers[i])) {
      if (answers.size() > 1) array.name = std::to_string(i) + "." + array.name;
      arrays.push_back(std::move(array));
    }
  Output output = Output::to_standard_output();
  TRY(write_npz(arrays, scratch_for(std::nullopt), output, unwatched()));
  return output.commit();
}

}  // namespace

Result<int> print_json(const Value& value, int status) { return print(value.json() + "\n", status); }

Status print_answers(const std::vector<Answer>& answers) {
  if (answers.empty() || std::holds_alternative<Done>(answers.front())) return Done{};
  if (std::holds_alternative<Arrays>(answers.front())) return print_npz(answers);
  std::string text;
  if (std::holds_alternative<Table>(answers.front())) text = csv_of(answers);
  else if (std::holds_alternative<Value>(answers.front()))
    for (const Answer& answer : answers) text += std::get<Value>(answer).json() + "\n";
  else text = joined_texts(answers, "\n", [](const Answer& answer) { return std::get<std::string>(answer); });
  const auto printed = print(text);
  return printed ? Status(Done{}) : printed.error();
}

}  // namespace headlight
