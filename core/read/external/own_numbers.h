// The user's numbers: the matrices of one small attention, as a page prints them, become a Model.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/matrix.h"
#include "base/result.h"
#include "read/external/tensors_file.h"

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
///   plain     CSV (commas, semicolons or tabs: 0,8 is 0.8), rows of Markdown or LaTeX, numbers with spaces between
/// A first row or column of words are labels, so are pandas' 0, 1, 2, …; `-`, nothing, and NaN beside labels are an
/// empty cell, 0. A single row is a table of one row. Errors, `where: row R, column C: …` from 0: a word or NaN where a
/// number should be; a row of another length; dots instead of numbers; nothing; more than kMostTableCells.
Result<NumberTable> parse_number_table(std::string_view where, std::string_view text);

/// The same from a file, or a .npy of one or two axes.
Result<NumberTable> read_number_table(const std::filesystem::path& path);

/// The numbers as JSON, [[1, 2], [3, 4]], each reading back to the same float; −∞ as "-inf".
std::string table_json(const Matrix& numbers);

/// Every weight as a page writes it, X·W: (in, out), the transpose of what torch.nn.Linear stores.
struct OwnNumbers {
  std::optional<NumberTable> x = {};                      // (T, d_model), its words in front of its rows
  std::vector<NumberTable> w_q = {}, w_k = {}, w_v = {};  // (d_model, d_k), (d_model, d_v): one a head, or all in one
  std::optional<NumberTable> w_o = {};                    // (H·d_v, d_model)
  std::optional<NumberTable> scores = {};                 // (T, S) after the scale, before the softmax; −∞ blocks
  std::optional<NumberTable> weights = {};                // (T, S) after the softmax
  std::optional<Index> num_heads = {};                    // where it is not the number of tables of w_q

  bool empty() const;
  friend bool operator==(const OwnNumbers&, const OwnNumbers&) = default;
};

/// Its tables by name, in the order of the computation.
enum class OwnTable { x, w_q, w_k, w_v, w_o, scores, weights };
inline constexpr std::string_view kOwnTableNames[] = {"x", "w_q", "w_k", "w_v", "w_o", "scores", "weights"};
/// Whether it is one of several, one a head.
inline bool is_of_heads(OwnTable table) {
  return table == OwnTable::w_q || table == OwnTable::w_k || table == OwnTable::w_v;
}
/// The number of heads: `num_heads`, or the tables of w_q, at least 1.
Index heads_of_numbers(const OwnNumbers& numbers);
/// The tables of all heads side by side: (rows, columns of all). Precondition: there is one, and all have its rows.
Matrix side_by_side(const std::vector<NumberTable>& heads);
/// How many there are of that name.
std::size_t count_of(const OwnNumbers& numbers, OwnTable table);
/// The table, or of those of the heads that of `head`; null where there is none.
const NumberTable* own_table(const OwnNumbers& numbers, OwnTable table, std::size_t head = 0);
/// The numbers with this table instead of that one, or behind the last of the heads; none: it is removed.
OwnNumbers with_own_table(OwnNumbers numbers, OwnTable table, std::size_t head, std::optional<NumberTable> put);

/// The model of these numbers: of x the attention that they come to, a missing weight being the identity; without x of
/// `scores` the rest of an attention (queries are the scores, keys and values the identity, the scale 1); of `weights`
/// alone the pattern as it stands, its keys perhaps in a grid. What else there is, is only checked. Errors: `where:
/// w_q: expected …, found …`.
Result<TensorsFile> model_of_numbers(std::string_view where, const OwnNumbers& numbers,
                                     const std::optional<PatchGrid>& grid = {});

/// The numbers as one line of JSON: {"x": {"numbers": [[1, 2]], "rows": ["我"]}, "w_q": [[[…]], [[…]]], "num_heads": 2};
/// a table without labels is its rows alone.
std::string numbers_json(const OwnNumbers& numbers);
Result<OwnNumbers> parse_own_numbers(std::string_view where, std::string_view text);

/// A file of that JSON, named `.numbers.json`.
inline constexpr std::string_view kNumbersEnding = ".numbers.json";
/// … or the JSON itself, as the SOURCE of a session or a command line: `numbers:{"x": …}`.
inline constexpr std::string_view kNumbersSource = "numbers:";

/// Reads either.
Result<OwnNumbers> read_own_numbers(std::string_view source);
bool names_own_numbers(std::string_view source);

}  // namespace headlight
