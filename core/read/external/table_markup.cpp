#include "read/external/table_markup.h"

#include <unicode/utf16.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "base/utf8.h"

namespace headlight {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Without what stands before the first cell: \hline, \toprule, \cmidrule{1-2}.
std::string without_rules(std::string row) {
  for (;;) {
    row = without_spaces(row);
    const std::size_t behind = std::min(row.find_first_not_of(kLetters, 1), row.size());
    const std::string_view command = std::string_view(row).substr(0, behind);
    if (!command.starts_with('\\') || !(command.ends_with("rule") || command.ends_with("line"))) return row;
    row.erase(0, behind);
    while (row.starts_with('{') || row.starts_with('('))
      row.erase(0, std::min(row.find_first_of("})"), row.size() - 1) + 1);
  }
}

}  // namespace

std::string_view without_spaces(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kTableSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kTableSpaces) - first + 1);
}

CsvRecord next_record(std::string_view text, std::size_t& at, char separator) {
  CsvRecord record{""};
  for (bool quoted = false; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' && (quoted || record.back().empty())) {
      if (quoted && text.substr(at + 1).starts_with('"')) record.back() += text[++at];
      else quoted = !quoted;
    } else if (!quoted && c == separator) {
      record.emplace_back();
    } else if (!quoted && c == '\n') {
      ++at;
      break;
    } else if (quoted || c != '\r') {
      record.back() += c;
    }
  }
  return record;
}

std::optional<double> number_in(std::string_view text) {
  bool negative = false;
  constexpr std::string_view kMinus = "−";
  if (text.starts_with(kMinus) || text.starts_with('-')) {
    text.remove_prefix(text.starts_with('-') ? 1 : kMinus.size());
    negative = true;
  } else if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  if (text == "inf" || text == "Infinity" || text == "∞")
    return negative ? std::optional(-std::numeric_limits<double>::infinity()) : std::nullopt;
  if (text.empty() || !(text.front() == '.' || (text.front() >= '0' && text.front() <= '9'))) return std::nullopt;
  const auto number = parse_number<double>(text);
  if (!number || std::abs(*number) > static_cast<double>(std::numeric_limits<float>::max())) return std::nullopt;
  return negative ? -*number : *number;
}

std::string plain_text(std::string_view given) {
  const bool little = given.starts_with("\xFF\xFE"), big = given.starts_with("\xFE\xFF");
  std::string text(little || big ? "" : given.substr(given.starts_with("\xEF\xBB\xBF") ? 3 : 0));
  std::u16string units;
  for (std::size_t at = 2; (little || big) && at + 1 < given.size(); at += 2) {
    const auto one = static_cast<unsigned char>(given[at]), other = static_cast<unsigned char>(given[at + 1]);
    units += static_cast<char16_t>(little ? one | other << 8 : one << 8 | other);
  }
  for (std::size_t at = 0; at < units.size();) {
    char32_t letter = 0;
    U16_NEXT(units.data(), at, units.size(), letter);
    append_utf8(text, letter);
  }
  if (text.find('\n') == text.npos) std::replace(text.begin(), text.end(), '\r', '\n');
  return text;
}

std::string lines_of_latex(std::string_view text) {
  std::string lines;
  for (std::size_t end = 0; !text.empty(); text.remove_prefix(std::min(end + 2, text.size()))) {
    end = std::min(text.find("\\\\"), text.size());
    std::string row(text.substr(0, end));
    if (row.size() > 2 && row[0] == '[' && row[1] >= '-' && row[1] <= '9') row.erase(0, row.find(']') + 1);  // \\[2pt]
    row.erase(std::min(row.find("\\end{"), row.size()));
    if (const std::size_t begin = row.rfind("\\begin{"); begin != row.npos) {
      row.erase(0, std::min(row.find('}', begin), row.size() - 1) + 1);
      while (row.starts_with('{') || row.starts_with('['))
        row.erase(0, std::min(row.find_first_of("}]"), row.size() - 1) + 1);
    }
    row = without_rules(row);
    for (std::size_t at = row.find("{,}"); at != row.npos; at = row.find("{,}")) row.replace(at, 3, ",");
    std::replace(row.begin(), row.end(), '\n', ' ');
    if (row.find('&') != row.npos) lines += row + "\n";
  }
  return lines;
}

std::string_view bare_cell(std::string_view cell) {
  while (cell.starts_with('\\') || cell.starts_with('{')) {
    std::size_t open = cell.front() == '{' ? 0 : cell.find_first_not_of(kLetters, 1);
    if (open < cell.size() && cell[open] == '[') open = cell.find(']', open) + 1;  // \cellcolor[HTML]{…}
    const std::size_t close = cell.find('}');
    if (open >= cell.size() || cell[open] != '{' || close == cell.npos) break;
    cell = close + 1 == cell.size() ? cell.substr(open + 1, close - open - 1) : without_spaces(cell.substr(close + 1));
  }
  for (const char mark : {'$', '*', '*', '`'})
    if (cell.size() > 2 && cell.front() == mark && cell.back() == mark) cell = cell.substr(1, cell.size() - 2);
  return cell;
}

std::string label_of(std::string_view cell, bool latex) {
  std::string label;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const bool escaped = latex ? cell[i] == '\\' && i + 1 < cell.size() && kLetters.find(cell[i + 1]) == kLetters.npos
                               : cell.substr(i).starts_with("\"\"") || cell.substr(i).starts_with("\\|");
    if (escaped) ++i;
    label += cell[i];
  }
  return label;
}

}  // namespace headlight
