#include "read/external/own_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/file.h"
#include "base/formatted.h"
#include "base/utf8.h"
#include "read/array/npy.h"
#include "read/external/table_markup.h"

namespace headlight {
namespace {

/// `text` as a message quotes it.
std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 24;
  const std::string_view shown = beginning(text, kLongest);
  return "'" + printable(shown) + (text.size() > shown.size() ? "…" : "") + "'";
}

bool is_empty_cell(std::string_view text) { return text == "-" || text == "–" || text == "—" || text == "−"; }
bool is_dots(std::string_view text) { return text == "..." || text == "…"; }

std::string cell_name(std::size_t row, std::size_t column) {
  return "row " + std::to_string(row) + ", column " + std::to_string(column);
}

Error not_a_number(std::string_view where, std::size_t row, std::size_t column, std::string_view found) {
  return bad_input(where, cell_name(row, column), is_dots(found) ? "every number, none left out" : "a number",
                   quoted(found), is_dots(found) ? ErrorCode::numbers_left_out : ErrorCode::not_a_number);
}

using NumberRows = std::vector<std::vector<double>>;

Error too_many(std::string_view where) {
  return bad_input(where, "table", "at most " + std::to_string(kMostTableCells) + " numbers", "more",
                   ErrorCode::too_large);
}

Result<NumberTable> table_from(std::string_view where, const NumberRows& rows) {
  if (rows.empty() || rows.front().empty())
    return bad_input(where, "table", "at least one number", "none", ErrorCode::no_numbers);
  const std::size_t columns = rows.front().size();
  NumberTable table;
  table.numbers.resize(static_cast<Index>(rows.size()), static_cast<Index>(columns));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows[row].size() != columns)
      return bad_input(where, "row " + std::to_string(row),
                       counted(static_cast<Index>(columns), "number") + ", as in row 0",
                       std::to_string(rows[row].size()), ErrorCode::ragged_rows);
    for (std::size_t column = 0; column < columns; ++column)
      table.numbers(static_cast<Index>(row), static_cast<Index>(column)) = static_cast<float>(rows[row][column]);
  }
  return table;
}

/// Reads [1, 2], several of them one behind the other, and [[1, 2], [3, 4]], commas or spaces between numbers.
class BracketReader {
 public:
  BracketReader(std::string_view where, std::string_view text) : where_(where), text_(text) {}

  Result<NumberTable> read() {
    const bool called = text_.front() != '[';  // array(…), tensor(…)
    at_ = text_.find('[');
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '[') {
        if (++depth > 2 || (depth == 2 && flat_)) return misplaced("rows of numbers, [[1, 2], [3, 4]]");
        rows_.emplace_back();
        if (depth == 2 && rows_.size() == 2 && rows_.front().empty() && !nested_) rows_.pop_back();
        if (depth == 2) nested_ = true;
        ++at_;
      } else if (c == ']') {
        ++at_;
        if (--depth == 0 && (called || nested_ || !begins_a_list())) return ended(called);
      } else if (c == ',' || kTableSpaces.find(c) != std::string_view::npos) {
        ++at_;
      } else {
        if (depth == 1 && nested_) return misplaced("a row of numbers");
        flat_ = flat_ || depth == 1;
        if (auto taken = take_number(); !taken) return taken.error();
      }
    }
    return bad_input(where_, "table", "a ] for every [", "the end of the text", ErrorCode::open_bracket);
  }

 private:
  /// The next row where each is a separate list.
  bool begins_a_list() const {
    const std::size_t next = text_.find_first_not_of(", \t\r\n\f\v", at_);
    return next != std::string_view::npos && text_[next] == '[';
  }
  Error misplaced(std::string_view expected) const {
    return bad_input(where_, "row " + std::to_string(rows_.size() - (rows_.empty() ? 0 : 1)), expected,
                     quoted(text_.substr(at_, 12)));
  }
  Status take_number() {
    const std::size_t end = text_.find_first_of("[], \t\r\n\f\v", at_);
    std::string_view word = text_.substr(at_, end == std::string_view::npos ? end : end - at_);
    std::string_view bare = word;
    if (bare.size() >= 2 && bare.front() == '"' && bare.back() == '"') bare = bare.substr(1, bare.size() - 2);
    const auto number = number_in(bare);
    if (!number) return not_a_number(where_, rows_.size() - 1, rows_.back().size(), word);
    rows_.back().push_back(*number);
    at_ += word.size();
    if (++cells_ > kMostTableCells) return too_many(where_);
    return Done{};
  }
  Result<NumberTable> ended(bool called) const {
    const std::string_view rest = without_spaces(text_.substr(at_));
    if (!rest.empty() && !(called && rest.back() == ')'))
      return bad_input(where_, "table", "one table", quoted(rest) + " behind it", ErrorCode::more_than_a_table);
    return table_from(where_, rows_);
  }

  std::string_view where_, text_;
  std::size_t at_ = 0;
  NumberRows rows_;
  Index cells_ = 0;
  bool nested_ = false, flat_ = false;
};

using Cells = std::vector<std::string_view>;

/// The cells of a line of CSV, without their quotes; without separators the words of a line.
Cells split_cells(std::string_view line, std::string_view separators) {
  Cells cells;
  bool in_quotes = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') in_quotes = !in_quotes;
    const bool escaped = i > 0 && (separators == "&" || separators == "|") && line[i - 1] == '\\';
    if (i < line.size() && (in_quotes || escaped || separators.find(line[i]) == std::string_view::npos)) continue;
    std::string_view cell = without_spaces(line.substr(begin, i - begin));
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = cell.substr(1, cell.size() - 2);
    cells.push_back(cell);
    begin = i + 1;
  }
  return cells;
}

/// A row of cells, and whether an empty line stands before it.
struct Line : Cells {
  bool behind_gap = false;
};

/// The lines that are not empty; without separators spaces are, one or several. A column that is empty in every row, at
/// either side, is none. Of Markdown whose tables begin with | these lines alone.
std::vector<Line> plain_cells(std::string_view text, std::string_view separators) {
  std::vector<Line> rows;
  const bool set = separators == "&" || separators == "|";
  const bool begins = separators == "|" && (text.starts_with('|') || text.find("\n|") != text.npos);
  bool gap = false;
  for (std::string_view line : split_at('\n', text)) {
    if (separators != "\t") line = without_spaces(line);
    else if (line.ends_with('\r')) line.remove_suffix(1);
    const bool rule = separators == "|" && line.find_first_not_of("|-:+= ") == line.npos;
    if (without_spaces(line).empty() || rule || (begins && !line.starts_with('|'))) {
      gap = gap || !rule || line.empty();
      continue;
    }
    rows.push_back({split_cells(line, separators.empty() ? kTableSpaces : separators), gap});
    gap = false;
    if (separators.empty()) std::erase(rows.back(), "");
    for (std::string_view& cell : rows.back())
      if (set) cell = bare_cell(cell);
  }
  const auto all = [&](auto cell_of) {
    return std::all_of(rows.begin(), rows.end(),
                       [&](const Cells& row) { return row.size() > 1 && cell_of(row).empty(); });
  };
  if (all([](const Cells& row) { return row.back(); }))
    for (Cells& row : rows) row.pop_back();
  if (all([](const Cells& row) { return row.front(); }))
    for (Cells& row : rows) row.erase(row.begin());
  return rows;
}

bool is_numeric(std::string_view cell) { return number_in(cell) || is_empty_cell(cell); }

/// May be a label: not a number, nor NaN or infinity as programs print them.
bool is_word(std::string_view cell) {
  if (cell.empty() || is_numeric(cell) || is_dots(cell)) return false;
  if (cell.starts_with('+')) cell.remove_prefix(1);
  return !parse_number<double>(cell) && cell != "∞";
}

/// How a table of text writes its numbers.
struct CellStyle {
  bool blanks = false;         // a cell may be empty or NaN, as spreadsheets and pandas write one without a number
  bool decimal_comma = false;  // 0,8 (between commas: in quotes)
  bool latex = false;

  std::optional<double> number(std::string_view cell) const {
    constexpr std::string_view kBlanks[] = {"",     "NaN",  "nan",  "NA",   "N/A",     "#N/A", "n/a",
                                            "None", "NULL", "null", "<NA>", "missing", "-nan"};
    if (is_empty_cell(cell)) return 0.0;
    if (cell.ends_with('%')) {
      const auto number_of_hundred =
          number(without_spaces(cell.substr(0, cell.find_last_not_of("%\\ \xC2\xA0\xE2\x80\xAF") + 1)));
      return number_of_hundred ? std::optional(*number_of_hundred / 100) : std::nullopt;
    }
    if (blanks && std::find(std::begin(kBlanks), std::end(kBlanks), cell) != std::end(kBlanks)) return 0.0;
    if (!decimal_comma || cell.find('.') != cell.npos) return number_in(cell);
    std::string point(cell);
    std::replace(point.begin(), point.end(), ',', '.');
    return number_in(point);
  }
};

/// 0, 1, 2, …: names that pandas gives to columns and rows.
template <class CellOf>
bool counts_up(std::size_t count, CellOf cell_of) {
  for (std::size_t i = 0; i < count; ++i)
    if (cell_of(i) != std::to_string(i)) return false;
  return count > 0;
}

/// Whether the first row, or behind a corner its rest, is a heading of numbers above numbers with points.
bool has_numbered_heading(const std::vector<Line>& rows) {
  if (rows.size() < 2 || rows[0].size() < 2) return false;
  const std::size_t skipped = rows[0].front().empty() ? 1 : 0;
  if (!counts_up(rows[0].size() - skipped, [&](std::size_t i) { return rows[0][i + skipped]; })) return false;
  const auto is_whole = [](std::string_view cell) {
    return !cell.empty() && cell.find_first_not_of("-0123456789") == cell.npos;
  };
  const bool with_points = std::none_of(
      rows.begin() + 1, rows.end(), [&](const Cells& row) { return std::any_of(row.begin(), row.end(), is_whole); });
  return skipped == 1 || (with_points && rows.size() - 1 == rows[0].size());
}

bool is_id(std::string_view cell) { return !cell.empty() && cell.find_first_not_of("0123456789") == cell.npos; }

/// Whether tokens are named by their ids behind an empty corner: whole numbers around others.
bool has_ids(const std::vector<Line>& rows) {
  const auto begins_with_id = [](const Cells& row) { return row.size() > 1 && is_id(row.front()); };
  return std::all_of(rows[0].begin() + 1, rows[0].end(), is_id) &&
         std::all_of(rows.begin() + 1, rows.end(), begins_with_id) &&
         std::any_of(rows.begin() + 1, rows.end(),
                     [](const Cells& row) { return !std::all_of(row.begin() + 1, row.end(), is_id); });
}

Result<NumberTable> from_cells(std::string_view where, const std::vector<Line>& rows, const CellStyle& style) {
  if (rows.empty()) return bad_input(where, "table", "at least one number", "none", ErrorCode::no_numbers);
  const bool counted = has_numbered_heading(rows);
  // Words in front of the numbers: in any row but the first, which may be the words above them.
  const auto is_label = [&](std::string_view cell) { return is_word(cell) && !style.number(cell); };
  const auto begins_with_word = [&](const Cells& cells) { return cells.size() > 1 && is_label(cells.front()); };
  const Cells& first = rows.front();
  const auto below = rows.begin() + (rows.size() > 1 ? 1 : 0);
  // Words above the numbers alone, as NumPy's relatives, R and tabs print a table, leave the corner out.
  const bool counts = counts_up(first.size(), [&](std::size_t i) { return first[i]; });
  const bool corner = rows.size() == 1 || (!counts && std::any_of(first.begin(), first.end(), is_numeric)) ||
                      !std::all_of(below, rows.end(), [&](const Cells& row) { return row.size() == first.size() + 1; });
  const bool empty_corner = rows.size() > 1 && first.size() > 1 && first.front().empty() &&
                            (std::any_of(first.begin() + 1, first.end(), is_label) ||
                             counts_up(first.size() - 1, [&](std::size_t i) { return first[i + 1]; }) || has_ids(rows));
  // Below a corner stand words, or numbers that count.
  const bool indexed = (!corner || empty_corner) && std::all_of(below, rows.end(), [&](const Cells& row) {
                         return !row.empty() && (is_label(row.front()) || is_id(row.front()));
                       });
  const bool labelled = indexed || std::any_of(below, rows.end(), begins_with_word);
  const auto first_number = first.begin() + (labelled && corner && !first.empty() ? 1 : 0);
  const bool headed = counted || indexed ||
                      (rows.size() > 1 && std::none_of(first_number, first.end(), is_numeric) &&
                       std::any_of(first_number, first.end(), is_label));
  std::vector<std::string> row_labels, column_labels;
  if (headed)
    for (auto cell = first_number; cell != first.end(); ++cell) column_labels.push_back(label_of(*cell, style.latex));
  NumberRows numbers;
  Index cells = 0;
  for (std::size_t r = headed ? 1 : 0; r < rows.size(); ++r) {
    const std::size_t row = r - (headed ? 1 : 0);
    const Cells& cells_of_row = rows[r];
    if (labelled) row_labels.push_back(cells_of_row.empty() ? "" : label_of(cells_of_row.front(), style.latex));
    numbers.emplace_back();
    for (std::size_t column = labelled ? 1 : 0; column < cells_of_row.size(); ++column) {
      const std::string_view cell = cells_of_row[column];
      const auto number = style.number(cell);
      if (!number) return not_a_number(where, row, column - (labelled ? 1 : 0), cell);
      numbers.back().push_back(*number);
      if (++cells > kMostTableCells) return too_many(where);
    }
  }
  auto table = table_from(where, numbers);
  if (!table) return table;
  table->row_labels = std::move(row_labels);
  if (column_labels.size() == static_cast<std::size_t>(table->numbers.cols()))
    table->column_labels = std::move(column_labels);
  return table;
}

/// What stands between cells: in half of the lines or more, since it may also be a word.
std::string_view separators_of(std::string_view text) {
  const std::vector<std::string_view> lines = split_at('\n', text);
  const auto stands_in = [&](std::string_view sign) {
    return std::ranges::count_if(lines, [&](std::string_view line) { return line.find(sign) != line.npos; });
  };
  if (stands_in("&") > 0 && (stands_in("\\\\") > 0 || 2 * stands_in("&") > std::ssize(lines))) return "&";
  if (std::ranges::any_of(lines, [](std::string_view line) { return line.starts_with('|') && line.rfind('|') > 0; }))
    return "|";
  for (const std::string_view sign : {"|", "\t", ";", ","})
    if (2 * stands_in(sign) >= std::ssize(lines)) return sign;
  return "";
}

/// Whether numbers stand on both sides of an empty line, and not each line is followed by one.
bool has_two_tables(const std::vector<Line>& rows) {
  const auto numbers = [](const Cells& row) { return std::ranges::any_of(row, is_numeric); };
  if (rows.empty() || std::all_of(rows.begin() + 1, rows.end(), [](const Line& row) { return row.behind_gap; }))
    return false;
  for (auto row = rows.begin(); row != rows.end(); ++row)
    if (row - rows.begin() > 1 && row->behind_gap && std::any_of(rows.begin(), row, numbers) &&
        std::any_of(row, rows.end(), numbers))
      return true;
  return false;
}

Result<NumberTable> read_text_table(std::string_view where, std::string_view text) {
  const bool named = text.starts_with("sep=") && text.size() > 5;  // as Excel takes it
  const std::string_view separators = named ? text.substr(4, 1) : separators_of(text);
  if (named) text.remove_prefix(std::min(text.find('\n'), text.size()));
  const bool latex = separators == "&";
  const std::string lines = latex ? lines_of_latex(text) : std::string();
  const auto cells = plain_cells(latex ? lines : text, separators);
  if (has_two_tables(cells))
    return bad_input(where, "table", "one table", "another one behind an empty line", ErrorCode::more_than_a_table);
  // A spreadsheet leaves cells empty beside words in front or above; a bare table of numbers has all of them.
  const bool words = std::any_of(cells.begin(), cells.end(), [](const Cells& row) {
    return std::any_of(row.begin(), row.end(), is_word) || (!row.empty() && row.front().empty());
  });
  const bool set = !separators.empty();
  return from_cells(where, cells, {.blanks = words && set, .decimal_comma = set, .latex = latex});
}

}  // namespace

Result<NumberTable> parse_number_table(std::string_view where, std::string_view given) {
  const std::string plain = plain_text(given);
  TRY(check_utf8(where, plain));
  std::string_view text = plain;
  if (text.starts_with("# ")) text.remove_prefix(2);              // as numpy.savetxt begins a heading
  const std::size_t begin = text.find_first_not_of(" \r\n\f\v");  // a tab may stand between empty cells
  text = begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(" \r\n\f\v") - begin + 1);
  if (without_spaces(text).empty())
    return bad_input(where, "table", "at least one number", "none", ErrorCode::no_numbers);
  const bool called = text.starts_with("array(") || text.starts_with("np.array(") || text.starts_with("tensor(") ||
                      text.starts_with("torch.tensor(");
  if (text.starts_with('[') || (called && text.find('[') != std::string_view::npos))
    return BracketReader(where, text).read();
  return read_text_table(where, text);
}

Result<NumberTable> read_number_table(const std::filesystem::path& path) {
  const std::string where = path.string();
  if (path.extension() != ".npy") {
    const auto text = TRY(read_file(path, kMostTableBytes));
    return parse_number_table(where, text);
  }
  const auto array = TRY(read_npy(path));
  if (array.shape.empty() || array.shape.size() > 2 || array.values.empty())
    return bad_input(where, "table", "one or two axes, none empty", shape_text(array.shape));
  if (static_cast<Index>(array.values.size()) > kMostTableCells) return too_many(where);
  const std::size_t columns = static_cast<std::size_t>(array.shape.back());
  for (std::size_t i = 0; i < array.values.size(); ++i)
    if (!(array.values[i] <= std::numeric_limits<float>::max()))
      return not_a_number(where, i / columns, i % columns, std::isnan(array.values[i]) ? "nan" : "inf");
  NumberTable table;
  table.numbers = Eigen::Map<const Matrix>(array.values.data(), static_cast<Index>(array.values.size() / columns),
                                           static_cast<Index>(columns));
  return table;
}

std::string table_json(const Matrix& numbers) {
  std::string text = "[";
  for (Index row = 0; row < numbers.rows(); ++row) {
    text += row > 0 ? ", [" : "[";
    for (Index column = 0; column < numbers.cols(); ++column) {
      if (column > 0) text += ", ";
      const float number = numbers(row, column);
      if (number < -std::numeric_limits<float>::max()) text += "\"-inf\"";
      else text += shortest_text(number);
    }
    text += "]";
  }
  return text + "]";
}

}  // namespace headlight
