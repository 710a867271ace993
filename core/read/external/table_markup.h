// What stands in a table of LaTeX, Markdown or CSV beside its numbers and words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headlight {

inline constexpr std::string_view kTableSpaces = " \t\r\n\f\v";
std::string_view without_spaces(std::string_view text);

/// UTF-8 with line feeds of a text with a mark of its byte order (UTF-16 as Excel's "Unicode text"), or with \r alone.
std::string plain_text(std::string_view given);

using CsvRecord = std::vector<std::string>;
/// The next record of CSV (RFC 4180), `at` then behind it: a cell in quotes may hold separators, lines and doubled
/// quotes. An empty line is one empty cell.
CsvRecord next_record(std::string_view text, std::size_t& at, char separator);

/// One number and nothing else: with a Unicode or an ASCII minus, a plus, a point at either end as NumPy prints it.
std::optional<double> number_in(std::string_view text);

/// The rows of a table of LaTeX, a line each: what stands between \begin{…}{…}, \\ and \end, without rules.
std::string lines_of_latex(std::string_view text);

/// A cell without what LaTeX and Markdown set it in: $0.9$, {0.9}, \textbf{0.9}, \cellcolor{red}0.9, **0.9**.
std::string_view bare_cell(std::string_view cell);

/// A label as it was before it was put into a table: "" in quotes, \_ of LaTeX.
std::string label_of(std::string_view cell, bool latex);

}  // namespace headlight
