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
#include "read/external/held_names.h"
#include "read/external/table_markup.h"

namespace headlight {
namespace {

enum class TidyColumn { stack, layer, head, query, key, query_token, key_token, weight, sentence };
constexpr std::string_view kColumns[] = {"stack",       "layer",     "head",   "query",   "key",
                                         "query_token", "key_token", "weight", "sentence"};
constexpr std::string_view kStacks[] = {"self", "encoder", "decoder", "cross"};
constexpr std::string_view kSummedUp[] = {"mean", "max", "sum", "rollout", "strongest"};  // as --reduce names them
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

/// `said` gets a line of each number that is another one here.
Result<Array> array_from(const std::string& where, const std::string& name, const TidyStack& tidy,
                         std::set<std::string>& said) {
  std::array<std::set<Index>, 2> found;  // layers, heads
  Index queries = 0, keys = 0;
  for (const Cell& cell : tidy.cells) {
    for (std::size_t i = 0; i < 2; ++i) found[i].insert(cell.at[i]);
    queries = std::max(queries, cell.at[2] + 1);
    keys = std::max(keys, cell.at[3] + 1);
  }
  said.insert(counted_anew("layer", found[0]));
  said.insert(counted_anew("head", found[1]));
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

/// Queries and keys that begin at 1, as R counts, begin at 0 here. Whether they did.
bool counts_from_one(std::map<std::string, TidyStack>& stacks) {
  for (const auto& [name, tidy] : stacks)
    for (const Cell& cell : tidy.cells)
      if (cell.at[2] == 0 || cell.at[3] == 0) return false;
  for (auto& [name, tidy] : stacks)
    for (Cell& cell : tidy.cells) --cell.at[2], --cell.at[3];
  return true;
}

Result<ArrayFile> file_of(const std::string& where, std::map<std::string, TidyStack>& stacks, bool has_words,
                          std::vector<Error>* notes) {
  ArrayFile file;
  std::set<std::string> said;
  if (counts_from_one(stacks)) said.insert("queries and keys of the file begin at 1, at 0 here");
  for (const auto& [name, tidy] : stacks) {
    file.arrays[name] = TRY(array_from(where, name, tidy, said));
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
  for (const std::string& line : said)
    if (notes && !line.empty()) notes->emplace_back(ErrorCode::bad_value, where, line);
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

std::string in_small_letters(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

TidyHeading heading_of(CsvRecord names) {
  for (std::string& name : names) name = in_small_letters(name);
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

/// 0 where the table has no such column. A layer or head that was summed up has a word in place of its number.
Result<Index> counted_in(const std::string& here, TidyColumn column, const TidyHeading& heading,
                         const CsvRecord& record) {
  using enum TidyColumn;
  if (!heading.has(column)) return 0;
  const std::string& text = record[heading.place(column)];
  const bool of_head = column == layer || column == head;
  if (of_head && std::ranges::find(kSummedUp, text) != std::end(kSummedUp)) return 0;
  const Index most = column == layer ? kMaxLayers : column == head ? kMaxHeads : static_cast<Index>(kMaxTokens);
  const auto number = parse_number<Index>(text);
  if (number && *number >= 0 && *number < most) return *number;
  const std::string name(kColumns[static_cast<std::size_t>(column)]);
  const bool word = !number && !text.empty() && (column == query || column == key);
  return bad_input(here, name,
                   "0 to " + std::to_string(most - 1) + (word ? " (a word stands in " + name + "_token)" : ""),
                   text.empty() ? "an empty cell" : printable(text));
}

/// The name of its array.
Result<std::string> array_of_line(const std::string& here, const TidyHeading& heading, const CsvRecord& record) {
  const std::string of = in_small_letters(heading.text(record, TidyColumn::stack));
  if (heading.has(TidyColumn::stack) && std::ranges::find(kStacks, of) == std::end(kStacks))
    return bad_input(here, "stack", "Self, Encoder, Decoder or Cross", of.empty() ? "an empty cell" : printable(of));
  const Index at = TRY(counted_in(here, TidyColumn::sentence, heading, record));
  return (heading.has(TidyColumn::sentence) ? std::to_string(at) + "." : "") +
         (of.empty() || of == "self" ? "" : of + "_") + "attentions";
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
    found.at[i] = TRY(counted_in(here, column, heading, record));
  }
  std::string number = heading.text(record, weight);
  if (decimal_comma && number.find('.') == number.npos) std::replace(number.begin(), number.end(), ',', '.');
  const auto value = parse_number<float>(number);
  if (!value && !number.empty() && number != "nan" && number != "NaN")
    return bad_input(here, "weight", "a number", printable(number), ErrorCode::not_a_number);
  found.weight = value.value_or(std::numeric_limits<float>::quiet_NaN());
  TidyStack& tidy = stacks[TRY(array_of_line(here, heading, record))];
  tidy.cells.push_back(found);
  tidy.queries[found.at[2]] = heading.text(record, query_token);
  tidy.keys[found.at[3]] = heading.text(record, key_token);
  return Done{};
}

}  // namespace

Result<std::optional<ArrayFile>> parse_tidy_table(std::string_view where, std::string_view given,
                                                  std::vector<Error>* notes) {
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
  auto file = TRY(file_of(std::string(where), stacks, heading.has(query_token) && heading.has(key_token), notes));
  return std::optional(std::move(file));
}

}  // namespace headlight
