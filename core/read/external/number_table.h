// A table of numbers as a page prints it: typed, pasted, or in a file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/matrix.h"
#include "base/result.h"

namespace headlight {

/// More cells than this are refused: a table to look at, not a checkpoint.
inline constexpr Index kMostTableCells = 250'000;
inline constexpr std::size_t kMostTableBytes = std::size_t{32} << 20;

struct NumberTable {
  Matrix numbers;                               // every one finite, or −∞
  std::vector<std::string> row_labels = {};     // words in front of the rows; empty: none
  std::vector<std::string> column_labels = {};  // words above the columns; empty: none

  friend bool operator==(const NumberTable& a, const NumberTable& b) {
    return same(a.numbers, b.numbers) && a.row_labels == b.row_labels && a.column_labels == b.column_labels;
  }
};

/// The text is of one of these forms:
///   brackets  [[1, 2], [3, 4]] as JSON, Python, NumPy and PyTorch write it, `array(…)` and `tensor(…)` too
///   plain     CSV (commas, semicolons or tabs), or numbers with spaces between, a row a line
/// A first row or column of words are labels. `-` is an empty cell, 0. A single row is a table
/// of one row. Errors, `where: row R, column C: …` counted from 0: a word or NaN where a number should be; a row of
/// another length; dots in place of numbers; nothing; more than kMostTableCells.
Result<NumberTable> parse_number_table(std::string_view where, std::string_view text);

/// The same from a file, or a .npy of one or two axes.
Result<NumberTable> read_number_table(const std::filesystem::path& path);

/// The numbers as JSON, [[1, 2], [3, 4]], each reading back to the same float; −∞ as "-inf".
std::string table_json(const Matrix& numbers);

}  // namespace headlight
