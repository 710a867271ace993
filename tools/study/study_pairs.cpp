#include <algorithm>

#include "base/file.h"
#include "base/formatted.h"
#include "base/utf8.h"
#include "read/external/table_markup.h"
#include "read/json/json_document.h"
#include "study/study.h"

namespace headlight {
namespace {

constexpr std::size_t kMostPairBytes = std::size_t{1} << 26;  // of a file of pairs
constexpr std::size_t kMostRows = 10;                         // that are named

/// Blanks around a name and its capitals do not count.
std::string* field_of(StudyPair& pair, std::string name) {
  std::erase(name, ' ');
  std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  if (name == "clean") return &pair.clean;
  if (name == "corrupt") return &pair.corrupt;
  if (name == "right") return &pair.right;
  return name == "wrong" ? &pair.wrong : nullptr;
}

/// The fields of each record that is no empty line.
std::vector<CsvRecord> records_of(std::string_view text) {
  std::vector<CsvRecord> records;
  for (std::size_t at = 0; at < text.size();) records.push_back(next_record(text, at, ','));
  std::erase_if(records, [](const CsvRecord& record) { return record.size() == 1 && record[0].empty(); });
  return records;
}

Result<std::vector<StudyPair>> pairs_of_csv(const std::string& file, std::string_view text,
                                            std::vector<Error>& problems) {
  const auto records = records_of(text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text);
  std::vector<StudyPair> pairs;
  for (std::size_t i = 1; i < records.size(); ++i) {
    StudyPair pair{.row = static_cast<Index>(i), .clean = {}, .corrupt = {}, .right = {}, .wrong = {}};
    if (records[i].size() != records[0].size()) {
      problems.push_back(bad_input(row_name(file, pair.row), "fields", std::to_string(records[0].size()),
                                   std::to_string(records[i].size())));
      continue;
    }
    for (std::size_t column = 0; column < records[i].size(); ++column)
      if (std::string* field = field_of(pair, records[0][column])) *field = records[i][column];
    pairs.push_back(std::move(pair));
  }
  StudyPair any;
  const auto is_clean = [&](const std::string& name) { return field_of(any, name) == &any.clean; };
  if (records.empty() || std::ranges::none_of(records[0], is_clean))
    return bad_input(file, "the first line",
                     "the names of columns with commas between them: clean, corrupt, right, wrong",
                     records.empty() ? "nothing" : printable(joined_texts(records[0], ",")));
  return pairs;
}

std::vector<StudyPair> pairs_of_jsonl(const std::string& file, std::string_view text, std::vector<Error>& problems) {
  std::vector<StudyPair> pairs;
  Index row = 0;
  for (const std::string_view line : split_at('\n', text)) {
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    StudyPair pair{.row = ++row, .clean = {}, .corrupt = {}, .right = {}, .wrong = {}};
    const auto parsed = parse_json(row_name(file, row), line);
    if (!parsed || !parsed->is_object()) {
      problems.push_back(parsed ? bad_input(row_name(file, row), "", "an object", "another value") : parsed.error());
      continue;
    }
    for (const auto& [name, value] : parsed->items())
      if (std::string* field = field_of(pair, name))
        *field = value.is_string() ? value.get<std::string>() : value.dump();
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace

std::string row_name(const std::string& file, Index row) { return file + ": row " + std::to_string(row); }

std::string named_rows(const std::vector<Index>& rows) {
  return (rows.size() == 1 ? "row " : "rows ") +
         first_texts(rows, kMostRows, [](Index row) { return std::to_string(row); });
}

Result<std::vector<StudyPair>> read_pairs(const std::string& file, bool with_corrupt, std::vector<Error>& problems) {
  const auto text = TRY(read_file(file, kMostPairBytes));
  const bool lines = file.ends_with(".jsonl");
  if (!lines && !file.ends_with(".csv")) return bad_input(file, "ending", ".csv or .jsonl", "another");
  auto pairs =
      lines ? Result<std::vector<StudyPair>>(pairs_of_jsonl(file, text, problems)) : pairs_of_csv(file, text, problems);
  if (!pairs) return pairs;
  std::erase_if(*pairs, [&](const StudyPair& pair) {
    if (!pair.clean.empty() && !(with_corrupt && pair.corrupt.empty())) return false;
    problems.push_back(
        bad_input(row_name(file, pair.row), pair.clean.empty() ? "clean" : "corrupt", "a sentence", "none"));
    return true;
  });
  return pairs;
}

}  // namespace headlight
