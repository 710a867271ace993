#include "read/external/own_numbers.h"

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/formatted.h"
#include "base/names.h"
#include "base/result.h"
#include "base/utf8.h"
#include "read/external/held_arrays.h"
#include "read/json/json_document.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr std::size_t kMostNumbersBytes = std::size_t{32} << 20;

std::string size_text(const Matrix& numbers) { return shape_text({numbers.rows(), numbers.cols()}); }

Status check_heads(std::string_view where, const char* name, const std::vector<NumberTable>& heads, Index rows) {
  for (std::size_t head = 0; head < heads.size(); ++head) {
    const std::string what = name + (heads.size() > 1 ? " of head " + std::to_string(head) : std::string());
    const Matrix& numbers = heads[head].numbers;
    if (numbers.rows() != rows)
      return bad_input(where, what, std::to_string(rows) + " rows, one for each column of x", size_text(numbers),
                       ErrorCode::wrong_rows);
    if (numbers.cols() != heads.front().numbers.cols())
      return bad_input(where, what, std::to_string(heads.front().numbers.cols()) + " columns, as head 0 has",
                       size_text(numbers), ErrorCode::wrong_columns);
  }
  return Done{};
}

Status check_all_finite(std::string_view where, const char* name, const NumberTable& table) {
  for (Index row = 0; row < table.numbers.rows(); ++row)
    for (Index column = 0; column < table.numbers.cols(); ++column)
      if (!std::isfinite(table.numbers(row, column)))
        return not_finite(where,
                          std::string(name) + ": row " + std::to_string(row) + ", column " + std::to_string(column),
                          table.numbers(row, column));
  return Done{};
}

void name_tokens(ArrayFile& file, const std::vector<std::string>& rows, const std::vector<std::string>& columns) {
  if (!rows.empty()) file.metadata["tokens"] = json(rows).dump(-1, ' ', false, json::error_handler_t::replace);
  if (!columns.empty())
    file.metadata["key_tokens"] = json(columns).dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<TensorsFile> model_of_x(std::string_view where, const OwnNumbers& numbers) {
  const Matrix& x = numbers.x->numbers;
  ArrayFile file;
  file.arrays["query"] = array_of(x);
  TRY(check_all_finite(where, "x", *numbers.x));
  for (const auto& [name, heads, array] : {std::tuple{"w_q", &numbers.w_q, "q_proj.weight"},
                                           {"w_k", &numbers.w_k, "k_proj.weight"},
                                           {"w_v", &numbers.w_v, "v_proj.weight"}}) {
    if (heads->empty()) continue;
    TRY(check_heads(where, name, *heads, x.cols()));
    for (const NumberTable& head : *heads) TRY(check_all_finite(where, name, head));
    file.arrays[array] = array_of(side_by_side(*heads).transpose());
  }
  const auto width = [&](const std::vector<NumberTable>& heads) {
    return heads.empty() ? x.cols() : side_by_side(heads).cols();
  };
  if (width(numbers.w_q) != width(numbers.w_k))
    return bad_input(where, "w_k", std::to_string(width(numbers.w_q)) + " columns of all heads, as w_q has",
                     std::to_string(width(numbers.w_k)) + (numbers.w_k.empty() ? ", those of x: w_k is missing" : ""),
                     ErrorCode::wrong_columns);
  const Index heads = heads_of_numbers(numbers);
  if (heads < 1 || width(numbers.w_q) % heads != 0 || width(numbers.w_v) % heads != 0)
    return bad_input(where, "num_heads",
                     "a divisor of the " + std::to_string(width(numbers.w_q)) + " columns of q and the " +
                         std::to_string(width(numbers.w_v)) + " of v",
                     std::to_string(heads), ErrorCode::heads_divide);
  if (numbers.w_o) {
    if (numbers.w_o->numbers.rows() != width(numbers.w_v))
      return bad_input(where, "w_o",
                       std::to_string(width(numbers.w_v)) + " rows, one for each column of the concatenated heads",
                       size_text(numbers.w_o->numbers), ErrorCode::wrong_rows);
    TRY(check_all_finite(where, "w_o", *numbers.w_o));
    file.arrays["out_proj.weight"] = array_of(numbers.w_o->numbers.transpose());
  }
  name_tokens(file, numbers.x->row_labels, {});
  return tensors_from(where, file, heads);
}

/// softmax(q·kᵀ) where q is the scores and k the identity; v is the identity too, so that z is the weights.
Result<TensorsFile> model_of_scores(std::string_view where, const NumberTable& scores) {
  Matrix finite = scores.numbers;
  ArrayFile file;
  Array mask{.dtype = Dtype::boolean, .shape = {finite.rows(), finite.cols()}, .values = {}};
  bool blocks = false;
  for (Index i = 0; i < finite.size(); ++i) {
    const bool blocked = !std::isfinite(finite.data()[i]);
    mask.values.push_back(blocked ? 0.0f : 1.0f);
    if (blocked) finite.data()[i] = 0;
    blocks = blocks || blocked;
  }
  file.arrays["query"] = array_of(finite);
  file.arrays["key"] = file.arrays["value"] = array_of(Matrix::Identity(finite.cols(), finite.cols()));
  if (blocks) file.arrays["mask"] = std::move(mask);
  name_tokens(file, scores.row_labels, scores.column_labels);
  auto made = tensors_from(where, file, 1);
  if (!made) return made;
  auto model = std::make_shared<Model>(*made->model);
  model->blocks.front().self.scale = 1.0f;
  made->model = std::move(model);
  return made;
}

Result<TensorsFile> model_of_weights(std::string_view where, const NumberTable& weights,
                                     const std::optional<PatchGrid>& grid) {
  ArrayFile file;
  Array pattern = array_of(weights.numbers);
  pattern.shape = {1, 1, weights.numbers.rows(), weights.numbers.cols()};
  file.arrays["attentions"] = std::move(pattern);
  name_tokens(file, weights.row_labels, weights.column_labels);
  return tensors_from(where, file, std::nullopt, {.grid = grid});
}

/// Where a table is kept: one, or one a head.
struct Part {
  std::optional<NumberTable> OwnNumbers::*single;
  std::vector<NumberTable> OwnNumbers::*heads;
};
constexpr Part kParts[] = {{&OwnNumbers::x, nullptr},      {nullptr, &OwnNumbers::w_q}, {nullptr, &OwnNumbers::w_k},
                           {nullptr, &OwnNumbers::w_v},    {&OwnNumbers::w_o, nullptr}, {&OwnNumbers::scores, nullptr},
                           {&OwnNumbers::weights, nullptr}};  // in the order of OwnTable
static_assert(std::size(kParts) == std::size(kOwnTableNames));

const Part& part_of(OwnTable table) { return kParts[static_cast<std::size_t>(table)]; }

std::string table_text(const NumberTable& table) {
  if (table.row_labels.empty() && table.column_labels.empty()) return table_json(table.numbers);
  const auto dumped = [](const std::vector<std::string>& labels) {
    return json(labels).dump(-1, ' ', false, json::error_handler_t::replace);
  };
  std::string text = "{\"numbers\": " + table_json(table.numbers);
  if (!table.row_labels.empty()) text += ", \"rows\": " + dumped(table.row_labels);
  if (!table.column_labels.empty()) text += ", \"columns\": " + dumped(table.column_labels);
  return text + "}";
}

Result<std::vector<std::string>> labels_from(const std::string& where, const json& list, Index count) {
  std::vector<std::string> labels;
  if (!list.is_array()) return bad_input(where, "", "a list of words", list.type_name());
  for (const json& label : list) {
    if (!label.is_string()) return bad_input(where, "", "a list of words", label.type_name());
    labels.push_back(label.get<std::string>());
  }
  if (static_cast<Index>(labels.size()) != count)
    return bad_input(where, "", std::to_string(count) + " words", std::to_string(labels.size()));
  return labels;
}

Result<NumberTable> table_from_json(const std::string& where, const json& value) {
  const bool labelled = value.is_object();
  if (labelled && !value.contains("numbers")) return bad_input(where, "numbers", "a list of rows", "none");
  const json& rows = labelled ? value["numbers"] : value;
  if (!rows.is_array()) return bad_input(where, "", "a list of rows", rows.type_name());
  auto table = parse_number_table(where, rows.dump(-1, ' ', false, json::error_handler_t::replace));
  if (!table || !labelled) return table;
  for (const auto& [key, labels, count] : {std::tuple{"rows", &table->row_labels, table->numbers.rows()},
                                           std::tuple{"columns", &table->column_labels, table->numbers.cols()}}) {
    if (!value.contains(key)) continue;
    *labels = TRY(labels_from(where + ": " + key, value[key], count));
  }
  return table;
}

/// Whether it is a list of tables rather than one.
bool lists_tables(const json& value) {
  int depth = 0;
  const json* at = &value;
  for (; at->is_array() && !at->empty(); at = &at->front()) ++depth;
  return depth > 2 || (depth == 1 && at->is_object());
}

}  // namespace

Matrix side_by_side(const std::vector<NumberTable>& heads) {
  Index columns = 0;
  for (const NumberTable& head : heads) columns += head.numbers.cols();
  Matrix all(heads.front().numbers.rows(), columns);
  Index at = 0;
  for (const NumberTable& head : heads) {
    all.middleCols(at, head.numbers.cols()) = head.numbers;
    at += head.numbers.cols();
  }
  return all;
}

Index heads_of_numbers(const OwnNumbers& numbers) {
  if (numbers.num_heads) return *numbers.num_heads;
  return static_cast<Index>(std::max<std::size_t>(1, numbers.w_q.size()));
}

std::size_t count_of(const OwnNumbers& numbers, OwnTable table) {
  const Part& part = part_of(table);
  return part.heads ? (numbers.*part.heads).size() : (numbers.*part.single).has_value();
}

const NumberTable* own_table(const OwnNumbers& numbers, OwnTable table, std::size_t head) {
  const Part& part = part_of(table);
  if (part.heads) return head < (numbers.*part.heads).size() ? &(numbers.*part.heads)[head] : nullptr;
  return numbers.*part.single ? &*(numbers.*part.single) : nullptr;
}

OwnNumbers with_own_table(OwnNumbers numbers, OwnTable table, std::size_t head, std::optional<NumberTable> put) {
  const Part& part = part_of(table);
  if (!part.heads) {
    numbers.*part.single = std::move(put);
    return numbers;
  }
  std::vector<NumberTable>& heads = numbers.*part.heads;
  if (put && head < heads.size()) heads[head] = std::move(*put);
  else if (put) heads.push_back(std::move(*put));
  else if (head < heads.size()) heads.erase(heads.begin() + static_cast<std::ptrdiff_t>(head));
  return numbers;
}

bool OwnNumbers::empty() const {
  for (std::size_t i = 0; i < std::size(kParts); ++i)
    if (count_of(*this, static_cast<OwnTable>(i)) > 0) return false;
  return true;
}

Result<TensorsFile> model_of_numbers(std::string_view where, const OwnNumbers& numbers,
                                     const std::optional<PatchGrid>& grid) {
  const bool projects = !numbers.w_q.empty() || !numbers.w_k.empty() || !numbers.w_v.empty() || numbers.w_o;
  if (numbers.x) return model_of_x(where, numbers);
  if (projects) return bad_input(where, "x", "what the weights are multiplied with", "none", ErrorCode::needs_x);
  if (numbers.scores) return model_of_scores(where, *numbers.scores);
  if (!numbers.weights) return bad_input(where, "numbers", "x, scores or weights", "none", ErrorCode::needs_scores);
  TRY(check_all_finite(where, "weights", *numbers.weights));
  return model_of_weights(where, *numbers.weights, grid);
}

std::string numbers_json(const OwnNumbers& numbers) {
  std::string text = "{";
  const auto add = [&](std::string_view name, const std::string& value) {
    text.append(text.size() > 1 ? ", \"" : "\"").append(name).append("\": ").append(value);
  };
  for (std::size_t i = 0; i < std::size(kParts); ++i) {
    const auto table = static_cast<OwnTable>(i);
    const std::size_t count = count_of(numbers, table);
    if (count == 1) add(kOwnTableNames[i], table_text(*own_table(numbers, table)));
    if (count > 1) add(kOwnTableNames[i], "[" + joined_texts(numbers.*part_of(table).heads, ", ", table_text) + "]");
  }
  if (numbers.num_heads) add("num_heads", std::to_string(*numbers.num_heads));
  return text + "}";
}

Result<OwnNumbers> parse_own_numbers(std::string_view where, std::string_view text) {
  const auto document = parse_json(where, text);
  if (!document) return document.error();
  if (!document->is_object()) return bad_input(where, "", "an object with x, scores or weights", document->type_name());
  OwnNumbers numbers;
  for (const auto& [key, value] : document->items()) {
    const std::string inside = std::string(where) + ": " + printable(key);
    if (key == "num_heads") {
      if (!value.is_number_integer() || value < 1 || value > kMaxHeads)
        return bad_input(inside, "", "1 to " + std::to_string(kMaxHeads), printable(value.dump(-1, ' ', true)));
      numbers.num_heads = value.get<Index>();
      continue;
    }
    const auto table = value_named<OwnTable>(kOwnTableNames, key);
    if (!table)
      return bad_input(where, "name", "x, w_q, w_k, w_v, w_o, scores, weights or num_heads",
                       "'" + printable(key) + "'");
    const bool several = is_of_heads(*table) && lists_tables(value);
    const std::size_t count = several ? value.size() : 1;
    if (count > static_cast<std::size_t>(kMaxHeads))
      return bad_input(inside, "", "at most " + std::to_string(kMaxHeads) + " heads", std::to_string(count));
    for (std::size_t head = 0; head < count; ++head) {
      auto read = TRY(table_from_json(inside, several ? value[head] : value));
      numbers = with_own_table(std::move(numbers), *table, head, std::move(read));
    }
  }
  return numbers;
}

bool names_own_numbers(std::string_view source) {
  return source.starts_with(kNumbersSource) || source.ends_with(kNumbersEnding);
}

Result<OwnNumbers> read_own_numbers(std::string_view source) {
  if (source.starts_with(kNumbersSource)) return parse_own_numbers("numbers", source.substr(kNumbersSource.size()));
  const auto text = TRY(read_file(std::filesystem::path(source), kMostNumbersBytes));
  return parse_own_numbers(source, text);
}

}  // namespace headlight
