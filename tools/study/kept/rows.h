// STUDY: what the pairs of a study gave, a line of JSON a pair, in one file or in a folder with a file for each shard.
// Lines are appended whole and read one by one; one that is damaged is left out and named.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/file_lock.h"
#include "base/progress.h"
#include "base/result.h"

namespace headlight {

/// The names of a row's numbers: so many fields each.
using CellKeys = std::vector<std::vector<std::string>>;

/// Part `index` of `count`: the rows of the pairs' file whose number, from 0, leaves that remainder.
struct Shard {
  Index index = 0, count = 1;

  bool has(Index row) const { return (row - 1) % count == index; }
};

/// What one pair gave: numbers, or why there are none.
struct StudyRow {
  Index row = 0;                          // of the file of pairs, from 1
  std::string question = {}, study = {};  // hashes: of all that the numbers depend on, and of it without the pair
  std::shared_ptr<const CellKeys> keys = {};
  std::vector<double> values = {};
  std::string error = {};
  std::size_t file = 0, line = 0;  // where it was read
};

/// What a study is, in words: the first row that a program writes states it.
struct StudyStatement {
  std::string study = {};  // StudyRow::study
  std::string title = {};  // StudyQuestion::title
  std::vector<std::string> columns = {};
  std::vector<std::string> words = {};  // of the command, without what only says where rows are kept and which
  Index pairs = 0;
  std::string model = {}, version = {}, machine = {};
};
std::string statement_json(const StudyStatement& statement);

class StudyRows {
 public:
  /// Rows are kept in `study`, a file or a folder. With a shard, where there is neither, it becomes a folder. With
  /// `writes` the file to write into is locked, and an interrupted last line is taken off; errors of that alone, but
  /// for another writer, go to `problems`, and nothing is kept. Damaged lines go there, too. Errors: a file that was
  /// not written by a study, other numbers under the same name, another writer. Stopped: the rows so far.
  static Result<StudyRows> open(const std::string& study, const std::optional<Shard>& shard, bool writes,
                                std::vector<Error>& problems, const std::atomic<bool>& stop = kNeverStops);

  /// Null where there is none with `fields` fields in each name.
  const StudyRow* find(const std::string& question, std::size_t fields) const;
  /// Appends a row; the first one states the study where the file does not state it last, with as many
  /// pairs. After an Error nothing
  /// more is kept.
  Status add(const StudyRow& row, const StudyStatement& statement);

  const std::vector<std::string>& files() const { return files_; }
  const std::deque<StudyRow>& rows() const { return rows_; }
  /// Those of a study by their number in the file of pairs; of two under one number the one that was kept last.
  std::map<Index, const StudyRow*> of_study(const std::string& study) const;
  /// In the order in which they were read.
  const std::vector<StudyStatement>& statements() const { return statements_; }
  bool keeps() const { return !file_.empty(); }
  const std::string& file() const { return file_; }

 private:
  Status read(const std::string& file, std::vector<Error>& problems, const std::atomic<bool>& stop);
  bool take(const std::string& line, StudyRow row);
  Status take_known(StudyRow row);

  std::vector<std::string> files_ = {};
  std::deque<StudyRow> rows_ = {};  // whose addresses stay
  std::map<std::string, StudyRow*, std::less<>> by_question_ = {};
  std::map<std::string, std::shared_ptr<const CellKeys>, std::less<>> known_keys_ = {};  // by their JSON
  std::vector<StudyStatement> statements_ = {};
  std::optional<StudyRow> taken_ = {};
  std::string file_ = {}, stated_ = {};  // that is written, and what it states last
  std::size_t written_ = 0;
  std::optional<FileLock> lock_ = {};
};

/// The files of a study, in order; none where there is nothing yet.
std::vector<std::string> files_of_study(const std::string& study);

}  // namespace headlight
