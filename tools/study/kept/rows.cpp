#include "study/kept/rows.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <tuple>

#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "base/system.h"
#include "read/json/json_document.h"
#include "write/json.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLineBytes = std::size_t{1} << 28;  // of a row
constexpr std::string_view kCells = R"(,"cells":)", kOf = R"(,"of":)";
constexpr std::size_t kMostNamed = 5;  // damaged lines of a file

template <class Of>
bool read_texts(const nlohmann::json& list, Of& texts) {
  if (!list.is_array()) return false;
  for (const nlohmann::json& one : list) {
    if (!one.is_string()) return false;
    texts.push_back(one.get<std::string>());
  }
  return true;
}

/// Null where the text is no list of names with as many fields each.
std::shared_ptr<const CellKeys> parsed_keys(std::string_view text) {
  const auto parsed = parse_json("", text);
  if (!parsed || !parsed->is_array() || parsed->empty()) return {};
  CellKeys keys;
  for (const nlohmann::json& one : *parsed)
    if (!read_texts(one, keys.emplace_back()) || keys.back().size() != keys.front().size()) return {};
  return std::make_shared<const CellKeys>(std::move(keys));
}

bool read_statement(std::string_view text, StudyStatement& statement) {
  const auto parsed = parse_json("", text);
  if (!parsed || !parsed->is_object()) return false;
  const auto text_of = [&](const char* name, std::string& to) {
    const auto at = parsed->find(name);
    if (at != parsed->end() && at->is_string()) to = at->get<std::string>();
  };
  text_of("study", statement.study), text_of("title", statement.title), text_of("model", statement.model);
  text_of("version", statement.version), text_of("machine", statement.machine);
  const auto pairs = parsed->find("pairs"), words = parsed->find("command"), columns = parsed->find("columns");
  if (columns != parsed->end() && !read_texts(*columns, statement.columns)) return false;
  if (pairs == parsed->end() || !pairs->is_number_unsigned() || words == parsed->end()) return false;
  statement.pairs = pairs->get<Index>();
  return read_texts(*words, statement.words);
}

/// The fields before the names of the numbers.
bool read_head(std::string_view text, StudyRow& row) {
  const auto parsed = parse_json("", text);
  if (!parsed || !parsed->is_object()) return false;
  const auto has = [&](const char* name, auto is) {
    const auto at = parsed->find(name);
    return at != parsed->end() && ((*at).*is)();
  };
  if (!has("row", &nlohmann::json::is_number_unsigned) || !has("question", &nlohmann::json::is_string) ||
      !has("study", &nlohmann::json::is_string))
    return false;
  row.row = (*parsed)["row"].get<Index>();
  row.question = (*parsed)["question"].get<std::string>(), row.study = (*parsed)["study"].get<std::string>();
  if (has("error", &nlohmann::json::is_string)) row.error = (*parsed)["error"].get<std::string>();
  if (!has("values", &nlohmann::json::is_array)) return !row.error.empty();
  for (const nlohmann::json& value : (*parsed)["values"]) {
    if (!value.is_number()) return false;
    row.values.push_back(value.get<double>());
    if (!std::isfinite(row.values.back())) return false;
  }
  return row.error.empty();
}

std::string words_json(const std::vector<std::string>& words) {
  return "[" + joined_texts(words, ",", json_string) + "]";
}

/// What a file need not state again.
std::string stated_in(const StudyStatement& statement) {
  return statement.study + " " + std::to_string(statement.pairs);
}

/// Which reads back to the same bits: -0 alone would be an integer.
std::string exact_number(double value) {
  return value == 0 && std::signbit(value) ? "-0.0" : formatted("%.17g", value);
}

/// The keys stand behind the numbers: of rows with the same ones they are the same text, which is parsed once.
std::string line_of(const StudyRow& row) {
  std::string line =
      R"({"row":)" + std::to_string(row.row) + R"(,"question":")" + row.question + R"(","study":")" + row.study + "\"";
  if (!row.error.empty()) return line + R"(,"error":)" + json_string(row.error);
  line += R"(,"values":[)" + joined_texts(row.values, ",", exact_number) + "]";
  return line.append(kCells) + "[" + joined_texts(*row.keys, ",", words_json) + "]";
}

/// The last line without its end was interrupted, or is being written: the bytes before it.
Result<std::uintmax_t> whole_bytes(const std::string& file) {
  if (path_exists(file) && !is_regular(file)) return bad_input(file, "", "a regular file", "something else");
  std::error_code failure;
  std::uintmax_t size = fs::file_size(file, failure);
  std::ifstream in(file, std::ios::binary);
  if (failure || !in) return bad_input(file, "", "a file that can be read", failure ? failure.message() : "another");
  constexpr std::uintmax_t kBlock = 1 << 16;
  std::string block;
  while (size > 0) {
    const std::uintmax_t begin = size > kBlock ? size - kBlock : 0;
    block.resize(static_cast<std::size_t>(size - begin));
    in.seekg(static_cast<std::streamoff>(begin));
    if (!in.read(block.data(), static_cast<std::streamsize>(block.size())))
      return bad_input(file, "", "a file that can be read", "a failure");
    if (const std::size_t end = block.rfind('\n'); end != block.npos) return begin + end + 1;
    size = begin;
  }
  return size;
}

std::string shard_file(const std::string& study, const Shard& shard) {
  return (fs::path(study) / ("rows-" + std::to_string(shard.index) + "-of-" + std::to_string(shard.count) + ".jsonl"))
      .string();
}

Error damaged(const std::string& file, const std::vector<std::size_t>& lines) {
  const std::string what = (lines.size() == 1 ? "line " : "lines ") +
                           first_texts(lines, kMostNamed, [](std::size_t line) { return std::to_string(line); });
  return bad_input(file, what, "a row", "damage: left out, and computed again");
}

}  // namespace

std::string statement_json(const StudyStatement& statement) {
  return R"({"study":)" + json_string(statement.study) + R"(,"title":)" + json_string(statement.title) +
         R"(,"columns":)" + words_json(statement.columns) + R"(,"command":)" + words_json(statement.words) +
         R"(,"pairs":)" + std::to_string(statement.pairs) + R"(,"model":)" + json_string(statement.model) +
         R"(,"version":)" + json_string(statement.version) + R"(,"machine":)" + json_string(statement.machine) + "}";
}

std::vector<std::string> files_of_study(const std::string& study) {
  std::vector<std::string> files;
  if (!is_folder(study)) {
    if (path_exists(study)) files.push_back(study);
    return files;
  }
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(study, failure))
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

bool StudyRows::take(const std::string& line, StudyRow row) {
  std::string_view rest = line;
  if (!rest.ends_with('}')) return false;
  rest.remove_suffix(1);
  if (const std::size_t of = rest.rfind(kOf); of != rest.npos) {
    StudyStatement statement;
    if (!read_statement(rest.substr(of + kOf.size()), statement)) return false;
    statements_.push_back(std::move(statement));
    rest = rest.substr(0, of);
  }
  const std::size_t cells = rest.find(kCells);
  if (!read_head(std::string(rest.substr(0, cells)) + "}", row)) return false;
  if (cells == rest.npos) return !row.error.empty() && (taken_ = std::move(row), true);
  auto& keys = known_keys_[std::string(rest.substr(cells + kCells.size()))];
  if (!keys) keys = parsed_keys(rest.substr(cells + kCells.size()));
  if (!keys || keys->size() != row.values.size()) return false;
  row.keys = keys;
  taken_ = std::move(row);
  return true;
}

Status StudyRows::take_known(StudyRow row) {
  const auto known = by_question_.find(row.question);
  if (known == by_question_.end()) {
    StudyRow& added = rows_.emplace_back(std::move(row));
    by_question_[added.question] = &added;
    return Done{};
  }
  StudyRow& first = *known->second;
  if (row.error.empty() && first.error.empty() &&
      (row.values != first.values || (row.keys != first.keys && *row.keys != *first.keys))) {
    const auto place_of = [&](const StudyRow& one) { return files_[one.file] + ": line " + std::to_string(one.line); };
    return bad_input(place_of(row), "row " + std::to_string(row.row),
                     "the numbers that the same question has in " + place_of(first),
                     "others: one of the two was computed wrong");
  }
  if (!first.error.empty() && row.error.empty()) first = std::move(row);
  else if (row.row != first.row && row.error.empty() == first.error.empty())
    first.row = row.row, first.file = row.file, first.line = row.line;
  return Done{};
}

std::map<Index, const StudyRow*> StudyRows::of_study(const std::string& study) const {
  std::map<Index, const StudyRow*> found;
  for (const StudyRow& row : rows_) {
    if (row.study != study) continue;
    const StudyRow*& there = found[row.row];
    if (!there || std::tie(row.file, row.line) > std::tie(there->file, there->line)) there = &row;
  }
  return found;
}

Status StudyRows::read(const std::string& file, std::vector<Error>& problems, const std::atomic<bool>& stop) {
  const auto whole = TRY(whole_bytes(file));
  files_.push_back(file);
  const int descriptor = open_file(file, Opening::read);
  if (descriptor < 0) return cannot_open(file, errno);
  InputLines lines(kMostLineBytes, descriptor);
  std::vector<std::size_t> wrong;
  std::size_t number = 0;
  Status done = Done{};
  for (std::uintmax_t at = 0; at < whole && done && !stop;) {
    auto line = lines.next();
    if (!line || !*line) break;
    at += (*line)->text.size() + 1;
    ++number;
    StudyRow row;
    row.file = files_.size() - 1, row.line = number;
    const std::size_t stated = statements_.size();
    if ((*line)->is_too_long || !take((*line)->text, std::move(row))) {
      statements_.resize(stated);
      wrong.push_back(number);
      continue;
    }
    if (file == file_ && statements_.size() > stated) stated_ = stated_in(statements_.back());
    done = take_known(*std::exchange(taken_, {}));
  }
  close_file(descriptor);
  if (!done) return done;
  if (!wrong.empty() && wrong.size() == number) return bad_input(file, "", "what --resume wrote", "another file");
  if (!wrong.empty()) problems.push_back(damaged(file, wrong));
  return Done{};
}

Result<StudyRows> StudyRows::open(const std::string& study, const std::optional<Shard>& shard, bool writes,
                                  std::vector<Error>& problems, const std::atomic<bool>& stop) {
  StudyRows rows;
  if (study.empty()) return rows;
  if (path_exists(study) && !is_folder(study) && !is_regular(study))
    return bad_input(study, "", "a file or a folder", "another kind");
  std::error_code failure;
  if (writes && shard && !path_exists(study)) fs::create_directories(study, failure);
  if (writes) {
    rows.file_ = is_folder(study) ? shard_file(study, shard.value_or(Shard{})) : study;
    auto lock = FileLock::take(rows.file_);
    if (lock && !*lock) return bad_input(rows.file_, "", "no other program that writes here", "one that does");
    if (lock) {
      rows.lock_ = std::move(**lock);
      const auto whole = TRY(whole_bytes(rows.file_));
      if (whole < fs::file_size(rows.file_, failure)) fs::resize_file(rows.file_, whole, failure);
    } else {
      problems.push_back(bad_input(std::exchange(rows.file_, {}), "write", "room to write", "a failure: no row is kept",
                                   lock.error().code));
    }
  }
  for (const std::string& file : files_of_study(study)) TRY(rows.read(file, problems, stop));
  return rows;
}

const StudyRow* StudyRows::find(const std::string& question, std::size_t fields) const {
  const auto found = by_question_.find(question);
  if (found == by_question_.end()) return nullptr;
  const StudyRow& row = *found->second;
  return row.error.empty() && row.keys->front().size() != fields ? nullptr : &row;
}

Status StudyRows::add(const StudyRow& row, const StudyStatement& statement) {
  if (file_.empty()) return Done{};
  std::string line = line_of(row);
  const std::string stated = stated_in(statement);
  if (stated_ != stated) line.append(kOf) += statement_json(statement);
  std::ofstream out(file_, std::ios::app | std::ios::binary);
  if (out << line + "}\n" << std::flush) {
    stated_ = stated;
    ++written_;
    return Done{};
  }
  return bad_input(
      std::exchange(file_, {}), "write", "room to write",
      "a failure: of what this run computed " + counted(static_cast<std::ptrdiff_t>(written_), "row") + " are kept");
}

}  // namespace headlight
