#include "views/inside/worksheet.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "explain/matrix_source.h"
#include "explain/recipe.h"
#include "figure/figure.h"
#include "figure/labels.h"
#include "model/head_text.h"
#include "views/inside/inside_labels.h"
#include "words/explain_words.h"
#include "words/inside_words.h"

namespace headlight {
namespace {

using Q = Quantity;

constexpr float kSheetWidth = 210 * kPointsInMm, kSheetHeight = 297 * kPointsInMm, kSheetMargin = 16 * kPointsInMm;
constexpr float kSheetTitle = 13, kSheetHeading = 10, kSheetSmall = 7.5f, kSheetNumber = 8;
constexpr float kSheetCell = 29, kSheetRow = 18, kSheetGap = 18;
constexpr Rgb kSheetInk{20, 20, 20}, kSheetDim{105, 105, 105}, kSheetLine{170, 170, 170}, kSheetKey{0, 110, 110};

struct Blank {
  const char* name;
  Quantity quantity;
};
constexpr Blank kBlanks[] = {{"q", Q::query},       {"k", Q::key},         {"v", Q::value},
                             {"scaled", Q::scaled}, {"scores", Q::scores}, {"weights", Q::weights},
                             {"z", Q::z},           {"concat", Q::concat}, {"output", Q::attention_output}};

/// A matrix of the sheet and how large it is on paper.
struct SheetTable {
  MatrixId id;
  Matrix numbers;
  std::string heading = {}, below = {};  // symbol; formula and shape
  std::vector<std::string> rows = {}, columns = {};
  float labels = 0;  // width of the labels of rows
  float width = 0, height = 0;
  bool blank = false;
};

/// What queries, keys and values are made of; none where only the pattern is known.
std::vector<MatrixId> inputs_of_head(const Trace& trace, const HeadRef& head) {
  std::vector<MatrixId> read;
  if (!exists(trace, matrix_id(Q::query, head))) return read;
  for (const Q projected : {Q::query_projected, Q::query, Q::key_projected, Q::key, Q::value}) {
    const MatrixId id = matrix_id(projected, head);
    if (!exists(trace, id)) continue;
    const Recipe made = recipe(trace, id);
    if (made.operation == Operation::projection || made.operation == Operation::columns)
      read.push_back(made.operands.front());
  }
  return read;
}

/// The symbol, and those of inputs that have the same numbers and no separate table: "query = key = value".
std::string heading_of(const Trace& trace, const HeadRef& head, const MatrixId& id) {
  std::string heading = symbol(id);
  std::vector<MatrixId> named{id};
  const std::vector<MatrixId> read = inputs_of_head(trace, head);
  if (read.empty() || origin(trace, read.front()) != id) return heading;
  for (const MatrixId& x : read) {
    const MatrixId first = origin(trace, x);
    if (std::ranges::find(named, first) != named.end()) continue;
    named.push_back(first);
    if (same(whole(trace, first), whole(trace, id))) heading += " = " + symbol(first);
  }
  return heading;
}

/// The tables in order; what equals an earlier one once.
std::vector<MatrixId> matrices_of_sheet(const Trace& trace, const HeadRef& head) {
  std::vector<MatrixId> list;
  const auto add = [&](const MatrixId& id) {
    if (!exists(trace, id)) return;
    const MatrixId first = origin(trace, id);
    if (std::ranges::find(list, first) == list.end()) list.push_back(first);
  };
  const bool pattern = !exists(trace, matrix_id(Q::query, head));
  for (const MatrixId& x : inputs_of_head(trace, head))  // keys and values of a tensors file are often its queries
    if (list.empty() || !same(whole(trace, x), whole(trace, list.front()))) add(x);
  for (const Q quantity : {Q::query_weight,
                           Q::query_bias,
                           Q::query_projected,
                           Q::query_normed,
                           Q::query,
                           Q::key_weight,
                           Q::key_bias,
                           Q::key_projected,
                           Q::key_normed,
                           Q::key,
                           Q::scaled,
                           Q::relative_bias,
                           Q::mask,
                           Q::scores,
                           Q::sink,
                           Q::softmax,
                           Q::dropped,
                           Q::weights,
                           Q::value_weight,
                           Q::value_bias,
                           Q::value,
                           Q::z,
                           Q::concat,
                           Q::output_weight,
                           Q::output_bias,
                           Q::attention_output}) {
    const MatrixId id = matrix_id(quantity, head);
    const bool open = !pattern && trace.mask(head.stack, head.layer).is_open();
    if (open && (quantity == Q::mask || (quantity == Q::scores && !exists(trace, matrix_id(Q::relative_bias, head)))))
      continue;
    if (quantity == Q::softmax && exists(trace, id) && !has_dropout(trace) && !is_set_by_hand(trace, head)) continue;
    if (quantity == Q::concat && trace.num_heads(head.stack) == 1) continue;
    add(id);
  }
  return list;
}

std::string sheet_number(float value) { return std::isfinite(value) ? matrix_number(value) : brief_number(value); }

SheetTable table_of_sheet(const Trace& trace, const MatrixId& id, const WorksheetOptions& options,
                          const TextWidth& measure) {
  SheetTable table{.id = id, .numbers = whole(trace, id)};
  table.heading = heading_of(trace, options.head, id);
  table.below = formula_in(options.language, trace, id) + "   " + shape_text(shape(trace, id));
  const Axes along = axes(trace, id);
  for (Index row = 0; along.rows != Axis::one && row < table.numbers.rows(); ++row) {
    table.rows.push_back(cut_to(index_label(trace, id, along.rows, row), kSheetSmall, 60, measure));
    table.labels = std::max(table.labels, measure(table.rows.back(), kSheetSmall) + 4);
  }
  for (Index column = 0; column < table.numbers.cols(); ++column)
    table.columns.push_back(cut_to(index_label(trace, id, along.cols, column), kSheetSmall, kSheetCell - 2, measure));
  const float cells = table.labels + kSheetCell * static_cast<float>(table.numbers.cols());
  table.width = std::max({cells, measure(table.heading, kSheetHeading), measure(table.below, kSheetSmall)});
  table.height = 2 * kSheetRow + kSheetSmall * 1.4f + kSheetRow * static_cast<float>(table.numbers.rows());
  table.blank = std::ranges::find(options.blank, id.quantity) != options.blank.end();
  return table;
}

/// Puts tables beside and below one another, on as many pages as they take.
class Sheets {
 public:
  Sheets(const WorksheetOptions& options, const TextWidth& measure) : options_(options), measure_(measure) {
    next_page();
  }

  void line(const std::string& words, float size, Rgb colour) {
    text({x_, y_ + size * 0.65f}, words, size, colour, Anchor::left, Role::title);
    y_ += size * 1.5f;
  }
  void space(float height) { y_ += height; }
  void put(const SheetTable& table) {
    const float right = kSheetWidth - kSheetMargin;
    if (x_ > kSheetMargin && x_ + table.width > right) next_row();
    if (x_ == kSheetMargin && y_ + table.height > kSheetHeight - kSheetMargin && y_ > kSheetMargin + kSheetRow)
      next_page();
    if (x_ > kSheetMargin && y_ + table.height > kSheetHeight - kSheetMargin) {
      next_row();
      next_page();
    }
    draw(table);
    x_ += table.width + kSheetGap;
    highest_ = std::max(highest_, table.height);
  }
  std::vector<Drawing> take() { return std::move(pages_); }

 private:
  void next_row() {
    x_ = kSheetMargin;
    y_ += highest_ + kSheetGap * 0.75f;
    highest_ = 0;
  }
  void next_page() {
    pages_.push_back({.width = kSheetWidth, .height = kSheetHeight, .background = {255, 255, 255}});
    x_ = y_ = kSheetMargin;
    highest_ = 0;
  }
  void text(Point at, const std::string& words, float size, Rgb colour, Anchor anchor, Role role) {
    pages_.back().add(text_of(at, words, size, colour, measure_, anchor, role));
  }
  void draw(const SheetTable& table) {
    float y = y_ + kSheetRow / 2;
    text({x_, y}, table.heading, kSheetHeading, kSheetInk, Anchor::left, Role::label);
    y += kSheetRow * 0.9f;
    text({x_, y}, table.below, kSheetSmall, kSheetDim, Anchor::left, Role::caption);
    y += kSheetRow * 0.85f;
    const float left = x_ + table.labels;
    for (std::size_t column = 0; column < table.columns.size(); ++column)
      text({left + (static_cast<float>(column) + 0.5f) * kSheetCell, y}, table.columns[column], kSheetSmall, kSheetDim,
           Anchor::middle, Role::label);
    y += kSheetSmall * 0.8f;
    for (Index row = 0; row < table.numbers.rows(); ++row, y += kSheetRow) {
      if (!table.rows.empty())
        text({left - 3, y + kSheetRow / 2}, table.rows[static_cast<std::size_t>(row)], kSheetSmall, kSheetDim,
             Anchor::right, Role::label);
      for (Index column = 0; column < table.numbers.cols(); ++column) {
        const Box cell{left + static_cast<float>(column) * kSheetCell, y, kSheetCell, kSheetRow};
        pages_.back().items.emplace_back(Rectangle{cell, {}, kSheetLine, 0.5f});
        if (table.blank && !options_.key) continue;
        text({cell.x + kSheetCell / 2, cell.y + kSheetRow / 2}, sheet_number(table.numbers(row, column)), kSheetNumber,
             table.blank ? kSheetKey : kSheetInk, Anchor::middle, Role::value);
      }
    }
  }

  const WorksheetOptions& options_;
  const TextWidth& measure_;
  std::vector<Drawing> pages_;
  float x_ = 0, y_ = 0, highest_ = 0;
};

}  // namespace

Result<std::vector<Quantity>> parse_blanks(std::string_view where, const std::vector<std::string>& names) {
  std::vector<Quantity> blanks;
  for (const std::string& wanted : names) {
    const auto at = std::ranges::find_if(kBlanks, [&](const Blank& blank) { return wanted == blank.name; });
    if (at == std::end(kBlanks)) return bad_input(where, "", joined_texts(kBlanks, ", ", &Blank::name), wanted);
    blanks.push_back(at->quantity);
  }
  return blanks;
}

Result<std::vector<Drawing>> draw_worksheet(const Trace& trace, const WorksheetOptions& options,
                                            const TextWidth& measure) {
  const std::vector<MatrixId> list = matrices_of_sheet(trace, options.head);
  for (const MatrixId& id : list) {
    const Shape size = shape(trace, id);
    if (size.rows > kMostSheetCells || size.cols > kMostSheetCells)
      return bad_input("worksheet", symbol(id),
                       "at most " + std::to_string(kMostSheetCells) +
                           " rows and columns, as --random --d-model 8 --num-heads 2 has for a short sentence",
                       shape_text(size));
  }
  for (const Blank& blank : kBlanks) {
    if (std::ranges::find(options.blank, blank.quantity) == options.blank.end()) continue;
    const auto is_on_it = [&](const Blank& one) {
      return std::ranges::any_of(list, [&](const MatrixId& id) { return id.quantity == one.quantity; });
    };
    if (is_on_it(blank)) continue;
    std::string there;
    for (const Blank& one : kBlanks)
      if (is_on_it(one)) there.append(there.empty() ? "" : ", ").append(one.name);
    return bad_input("--blank", "", "a matrix of this attention: " + there, blank.name);
  }
  Sheets sheets(options, measure);
  const Language language = options.language;
  sheets.line(words(language, kWorksheetWords.title), kSheetTitle, kSheetInk);
  std::string which = head_label(options.head);
  if (trace.encoder) which = stack_title(language, options.head.stack) + "  " + which;
  which += options.key ? std::string(words(language, kWorksheetWords.answers))
                       : filled(words(language, kWorksheetWords.name), {std::string(32, '_')});
  sheets.line(which, kSheetNumber, kSheetDim);
  sheets.line(words(language, options.key ? kWorksheetWords.answers_explained : kWorksheetWords.explained),
              kSheetNumber, kSheetDim);
  sheets.space(kSheetGap / 2);
  for (const MatrixId& id : list) sheets.put(table_of_sheet(trace, id, options, measure));
  return sheets.take();
}

}  // namespace headlight
