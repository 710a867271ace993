#include "read/external/tidy_table.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "model/config.h"
#include "model/tokens.h"
#include "read/external/table_markup.h"

namespace headlight {
namespace {

enum class TidyColumn { stack, layer, head, query, key, query_token, key_token, weight, sentence };
constexpr std::string_view kColumns[] = {"stack",       "layer",     "head",   "query",   "key",
                                         "query_token", "key_token", "weight", "sentence"};
constexpr std::size_t kMostPerLine = 64;  // cells of the arrays for each line of the table

struct Cell {
  std::array<Index, 4> at;  // layer, head, query, key
  float weight;
};

struct TidyStack {
  std::vector<Cell> cells = {};
  std::map<Index, std::string> queries = {}, keys = {};
  std::string words(bool of_keys) const {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& [at, word] : of_keys ? keys : queries) list.push_back(word);
    return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
};

Result<Array> array_from(const std::string& where, const std::string& name, const TidyStack& tidy) {
  std::array<std::set<Index>, 2> found;  // layers, heads
  Index queries = 0, keys = 0;
  for (const Cell& cell : tidy.cells) {
    for (std::size_t i = 0; i < 2; ++i) found[i].insert(cell.at[i]);
    queries = std::max(queries, cell.at[2] + 1);
    keys = std::max(keys, cell.at[3] + 1);
  }
  Array array{.dtype = Dtype::f32,
              .shape = {static_cast<Index>(found[0].size()), static_cast<Index>(found[1].size()), queries, keys},
              .values = {}};
  const auto count = num_elements(array.shape);
  if (!count || *count > tidy.cells.size() * kMostPerLine)
    return bad_input(where, name, "a line for most cells of " + shape_text(array.shape),
                     counted(static_cast<Index>(tidy.cells.size()), "line"), ErrorCode::too_large);
  array.values.resize(*count);
  std::vector<bool> seen(*count);
  std::array<std::map<Index, Index>, 2> place;
  for (std::size_t i = 0; i < 2; ++i)
    for (const Index at : found[i]) place[i].emplace(at, static_cast<Index>(place[i].size()));
  for (const Cell& cell : tidy.cells) {
    const Index map = place[0][cell.at[0]] * array.shape[1] + place[1][cell.at[1]];
    const auto at = static_cast<std::size_t>((map * queries + cell.at[2]) * keys + cell.at[3]);
    if (seen[at])
      return bad_input(where, name, "each cell once",
                       "layer " + std::to_string(cell.at[0]) + " head " + std::to_string(cell.at[1]) + " query " +
                           std::to_string(cell.at[2]) + " key " + std::to_string(cell.at[3]) + " twice");
    seen[at] = true;
    array.values[at] = cell.weight;
  }
  return array;
}

Result<ArrayFile> file_of(const std::string& where, const std::map<std::string, TidyStack>& stacks, bool has_words) {
  ArrayFile file;
  for (const auto& [name, tidy] : stacks) {
    file.arrays[name] = TRY(array_from(where, name, tidy));
    if (!has_words) continue;
    const std::string before = name.substr(0, name.find('.') + 1);  // of a sentence
    const std::string of = name.substr(before.size());
    const auto is = [&](std::string_view part) { return of.starts_with(part); };
    if (is("attentions")) {
      file.metadata[before + "tokens"] = tidy.words(false);
      if (tidy.words(true) != tidy.words(false)) file.metadata[before + "key_tokens"] = tidy.words(true);
    }
    if (is("decoder") || is("cross")) file.metadata[before + "target_tokens"] = tidy.words(false);
    if (is("encoder") || is("cross")) file.metadata[before + "tokens"] = tidy.words(true);
  }
  return file;
}

/// Where the columns of a table stand.
struct TidyHeading {
  std::array<std::size_t, std::size(kColumns)> at;
  std::size_t count;
  std::size_t place(TidyColumn column) const { return at[static_cast<std::size_t>(column)]; }
  bool has(TidyColumn column) const { return place(column) < count; }
  std::string text(const CsvRecord& record, TidyColumn column) const {
    return has(column) ? record[place(column)] : "";
  }
};

TidyHeading heading_of(const CsvRecord& names) {
  TidyHeading heading{.at = {}, .count = names.size()};
  const auto place = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  for (std::size_t i = 0; i < std::size(kColumns); ++i) heading.at[i] = place(kColumns[i]);
  constexpr std::pair<TidyColumn, std::string_view> kOthers[] = {
      {TidyColumn::query, "q"},           {TidyColumn::query, "query_idx"},  {TidyColumn::key, "k"},
      {TidyColumn::key, "key_idx"},       {TidyColumn::weight, "attention"}, {TidyColumn::weight, "attn"},
      {TidyColumn::weight, "attn_weight"}};
  for (const auto& [column, name] : kOthers)
    if (!heading.has(column)) heading.at[static_cast<std::size_t>(column)] = place(name);
  return heading;
}

/// A layer or head that was summed up has a word in place of its number.
Result<Index> counted_in(const std::string& here, TidyColumn column, const std::string& text) {
  using enum TidyColumn;
  const bool of_head = column == layer || column == head;
  if (text.empty() || (of_head && text.find_first_of("0123456789") == text.npos)) return 0;
  const Index most = column == layer ? kMaxLayers : column == head ? kMaxHeads : static_cast<Index>(kMaxTokens);
  const auto number = parse_number<Index>(text);
  if (number && *number >= 0 && *number < most) return *number;
  const std::string name(kColumns[static_cast<std::size_t>(column)]);
  const bool word = !number && (column == query || column == key);
  return bad_input(here, name,
                   "0 to " + std::to_string(most - 1) + (word ? " (a word stands in " + name + "_token)" : ""),
                   printable(text));
}

Status take_line(const std::string& here, const TidyHeading& heading, const CsvRecord& record, bool decimal_comma,
                 std::map<std::string, TidyStack>& stacks) {
  using enum TidyColumn;
  if (record.size() != heading.count)
    return bad_input(here, "", std::to_string(heading.count) + " cells, as the heading has",
                     std::to_string(record.size()), ErrorCode::ragged_rows);
  Cell found{};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto column = static_cast<TidyColumn>(static_cast<std::size_t>(layer) + i);
    found.at[i] = TRY(counted_in(here, column, heading.text(record, column)));
  }
  std::string number = heading.text(record, weight);
  if (decimal_comma && number.find('.') == number.npos) std::replace(number.begin(), number.end(), ',', '.');
  const auto value = parse_number<float>(number);
  if (!value && !number.empty() && number != "nan" && number != "NaN")
    return bad_input(here, "weight", "a number", printable(number), ErrorCode::not_a_number);
  found.weight = value.value_or(std::numeric_limits<float>::quiet_NaN());
  const std::string of = heading.text(record, stack);
  std::string name = heading.has(sentence)
                         ? std::to_string(TRY(counted_in(here, sentence, heading.text(record, sentence)))) + "."
                         : "";
  name += of == "Encoder" ? "encoder_" : of == "Decoder" ? "decoder_" : of == "Cross" ? "cross_" : "";
  TidyStack& tidy = stacks[name + "attentions"];
  tidy.cells.push_back(found);
  tidy.queries[found.at[2]] = heading.text(record, query_token);
  tidy.keys[found.at[3]] = heading.text(record, key_token);
  return Done{};
}

}  // namespace

Result<std::optional<ArrayFile>> parse_tidy_table(std::string_view where, std::string_view given) {
  using enum TidyColumn;
  const std::string plain = plain_text(given);
  const std::string_view text = plain;
  const std::string_view first = text.substr(0, text.find('\n'));
  const char separator = first.find('\t') != first.npos ? '\t' : first.find(';') != first.npos ? ';' : ',';
  std::size_t at = 0;
  const CsvRecord names = next_record(text, at, separator);
  const TidyHeading heading = heading_of(names);
  if (!heading.has(query) || !heading.has(key) || !heading.has(weight)) {
    if (!heading.has(layer) || !heading.has(head)) return std::optional<ArrayFile>();
    return bad_input(where, "heading", "query, key and weight beside layer and head",
                     joined_texts(names, ", ", [](const std::string& name) { return printable(name); }));
  }
  std::map<std::string, TidyStack> stacks;
  for (std::size_t line = 2; at < text.size(); ++line) {
    const CsvRecord record = next_record(text, at, separator);
    if (record.size() == 1 && record[0].empty()) continue;
    TRY(take_line(std::string(where) + ": line " + std::to_string(line), heading, record, separator == ';', stacks));
  }
  auto file = TRY(file_of(std::string(where), stacks, heading.has(query_token) && heading.has(key_token)));
  return std::optional(std::move(file));
}

}  // namespace headlight
