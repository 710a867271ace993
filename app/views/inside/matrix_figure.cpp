// One matrix large, and the terms of one of its cells; what wrote a score, and its terms; as the window's Inside view
// shows them.
#include <algorithm>
#include <cmath>

#include "base/result.h"
#include "explain/cell.h"
#include "figure/labels.h"
#include "figure/map_items.h"
#include "figure/page.h"
#include "model/head_text.h"
#include "views/inside/inside_labels.h"
#include "views/inside/matrix_scene.h"
#include "words/explain_words.h"
#include "words/inside_words.h"
#include "words/words.h"

namespace headlight {
namespace {

constexpr float kWidestCell = 4.2f, kHighestCell = 1.7f;  // ems
constexpr float kMapShare = 0.55f;                        // of a page's fair height, where terms stand below
constexpr std::size_t kMostTerms = 60;
constexpr float kBar = 5;  // ems, of the longest

TermWords words_of_term(const Trace& trace, const Term& term, bool adds_up) {
  const auto at = [&](const CellValue& one) {
    return cell_title(trace, one.id, one.row, one.col) + "  " + exact_number(one.value);
  };
  TermWords words{.from = at(term.from), .times = {}, .addend = {}, .length = term_length(term, adds_up)};
  if (!adds_up) return words;
  if (term.times) words.times = at(*term.times);
  else if (term.factor != 1) words.times = "× " + exact_number(term.factor);
  words.addend = "= " + exact_number(term.contribution);
  return words;
}

/// The terms that are listed: all, or the largest of them in their order.
std::vector<std::size_t> listed(const Cell& cell, bool adds_up) {
  const auto size = [&](std::size_t i) { return std::abs(term_length(cell.terms[i], adds_up)); };
  std::vector<std::size_t> at = largest_first(cell.terms.size(), size);
  at.resize(std::min(at.size(), kMostTerms));
  std::ranges::sort(at);
  return at;
}

/// Which terms are not listed, and what they come to.
std::string remark_of(Language language, const Cell& cell, const std::vector<std::size_t>& shown, bool adds_up) {
  if (!adds_up) return others_of(language, shown.size(), cell.terms.size(), {});
  double rest = 0;
  for (const Term& term : cell.terms) rest += static_cast<double>(term.contribution);
  for (const std::size_t i : shown) rest -= static_cast<double>(cell.terms[i].contribution);
  return others_of(language, shown.size(), cell.terms.size(), rest);
}

/// A cell: its number, how it follows, and its terms. Gives a remark where not all of them are listed.
std::string add_cell(Page& page, const Trace& trace, const Cell& cell, const FigureOptions& options) {
  page.y += 0.5f * page.label;
  add_lines(page, cell_title(trace, cell.id, cell.row, cell.col) + " = " + exact_number(cell.value), page.title,
            Role::label, page.ink.text);
  add_lines(page, operation_line(options.language, cell), page.label, Role::label, page.ink.dim);
  page.y += 0.3f * page.label;
  const bool adds_up = is_sum_of_terms(cell.operation);
  const std::vector<std::size_t> shown = listed(cell, adds_up);
  std::vector<TermWords> terms;
  for (const std::size_t i : shown) terms.push_back(words_of_term(trace, cell.terms[i], adds_up));
  if (!terms.empty()) add_terms(page, terms, options.theme);
  return remark_of(options.language, cell, shown, adds_up);
}

}  // namespace

namespace {

/// A part of a term: its label may be cut, its number never.
struct NumberedWidth {
  float label = 0, number = 0;
};
/// `A[she, When]` and `  4.56e-05`; the last part is a number, a factor has a sign before it.
std::pair<std::string, std::string> numbered(const std::string& text, std::size_t part) {
  const std::size_t at = text.rfind("  ");
  if (at != std::string::npos) return {text.substr(0, at), text.substr(at)};
  if (part == 2 || text.starts_with("× ")) return {"", text};
  return {text, ""};
}

}  // namespace

std::string others_of(Language language, std::size_t shown, std::size_t all, std::optional<double> rest) {
  if (shown == all) return {};
  const std::string text =
      filled(words(language, kInsideWords.largest_terms), {std::to_string(shown), std::to_string(all)});
  if (!rest) return text;
  const Words& others = all == shown + 1 ? kInsideWords.rest_of_one : kInsideWords.rest_of_many;
  return text + filled(words(language, others), {brief_number(static_cast<float>(*rest))});
}

void add_terms(Page& page, const std::vector<TermWords>& terms, Theme theme) {
  float size = page.label, gap = size;
  std::array<NumberedWidth, 3> widest{};
  float largest = 0, labels = 0, numbers = 0;
  for (const TermWords& one : terms) {
    const std::string* parts[] = {&one.from, &one.times, &one.addend};
    for (std::size_t part = 0; part < 3; ++part) {
      const auto [label, number] = numbered(*parts[part], part);
      widest[part].label = std::max(widest[part].label, page.measure(label, size));
      widest[part].number = std::max(widest[part].number, page.measure(number, size));
    }
    if (std::isfinite(one.length)) largest = std::max(largest, std::abs(one.length));
  }
  for (NumberedWidth& width : widest) {
    width.number += width.label + width.number > 0 ? gap : 0;
    labels += width.label, numbers += width.number;
  }
  if (numbers > page.room()) {  // of a narrow page
    const float smaller = page.room() / numbers;
    size *= smaller, gap *= smaller, labels *= smaller, numbers *= smaller;
    for (NumberedWidth& width : widest) width.label *= smaller, width.number *= smaller;
  }
  const float line = kLineOfText * size, natural = labels + numbers + (kBar + 2) * size;
  const auto columns = std::max<std::size_t>(1, static_cast<std::size_t>((page.room() + 2 * size) / natural));
  const float shrink = labels > 0 ? std::clamp((page.room() - numbers) / labels, 0.0f, 1.0f) : 1;
  // The length of the longest, both ways.
  const float bar = std::min(kBar * size, page.room() - shrink * labels - numbers);
  const bool bars = bar > 2 * size;
  const std::size_t rows = (terms.size() + columns - 1) / columns;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    float x = page.left() + static_cast<float>(i / rows) * natural;
    const float y = page.y + (static_cast<float>(i % rows) + 0.5f) * line;
    const std::string* parts[] = {&terms[i].from, &terms[i].times, &terms[i].addend};
    for (std::size_t part = 0; part < 3; ++part) {
      const auto [label, number] = numbered(*parts[part], part);
      const float room = shrink * widest[part].label;
      if (!parts[part]->empty())
        add_text(page, {x, y}, (label.empty() ? label : cut_to(label, size, room, page.measure)) + number, size,
                 part == 2 ? page.ink.text : page.ink.dim);
      x += room + widest[part].number;
    }
    const float share = largest > 0 && std::isfinite(terms[i].length) ? terms[i].length / largest : 0;
    const float middle = x + bar / 2, end = middle + share * bar / 2;
    if (bars && share != 0)
      page.drawing.add(Rectangle{{std::min(middle, end), y - 0.3f * size, std::abs(end - middle), 0.6f * size},
                                 diverging_map(theme)[share < 0 ? 40 : 215]});
  }
  page.y += static_cast<float>(rows) * line;
}

Result<Drawing> draw_matrix(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  const Trace& trace = subject.trace;
  const MatrixId& id = options.look.matrix;
  const std::optional<MatrixCell>& chosen = options.look.cell;
  if (!exists(trace, id)) return bad_input("figure", "matrix", "one that this answer has", symbol(id));
  const Shape size = shape(trace, id);
  if (chosen)
    for (const auto& [what, at, count] :
         {std::tuple("row", chosen->row, size.rows), std::tuple("column", chosen->col, size.cols)})
      TRY(check_within("figure", what, at, count));
  Page page = new_page(options, measure);
  const std::string name = words_of(options.language, id.quantity);
  add_lines(page, symbol(id) == name ? name : symbol(id) + "  " + name, page.title, Role::title, page.ink.text);
  FigureOptions of_head = options;
  of_head.head = {id.layer, id.head, id.stack};
  std::string line = formula_in(options.language, trace, id) + "   " + shape_text(size);
  if (is_per_head(id.quantity)) line += "   " + head_label(of_head.head);
  add_lines(page, line, page.label, Role::label, page.ink.dim);
  page.y += 0.5f * page.label;

  const auto picture =
      std::make_shared<const MatrixPicture>(picture_of(trace, id, chosen ? chosen->row : 0, kLookRows, kLookColumns));
  const ColourScale scale = picture_scale(options.theme, *picture, is_signed(id));
  const MatrixStyle style{.theme = options.theme,
                          .ink = page.ink,
                          .measure = measure,
                          .label = page.label,
                          .value = page.value,
                          .least_value = page.least_label,
                          .widest = kWidestCell * page.label,
                          .highest = kHighestCell * page.label,
                          .most_labels = page.room() / 3};
  const Box area{page.left(), page.y, page.room(), (chosen ? kMapShare : 1) * page.fair_height()};
  const MatrixSubject map{trace, id, picture, chosen};
  const MatrixGrid grid = matrix_grid(map, style, area);
  add_matrix(page.drawing, map, style, grid, area);
  page.y = grid.plot.bottom();
  const bool blocks = (picture->values.array() == blocked_number(scale)).any();
  add_colour_bar(page, scale, words(options.language, kInsideWords.value), options.language, blocks);

  std::vector<std::string> remarks;
  if (picture->rows < size.rows)
    remarks.push_back(
        filled(words(options.language, kInsideWords.shown_rows),
               {std::to_string(picture->first_row), std::to_string(picture->first_row + picture->rows - 1)}));
  if (picture->values.cols() < picture->columns)
    remarks.emplace_back(words(options.language, kInsideWords.farthest_of_columns));
  if (chosen)
    if (const std::string remark = add_cell(page, trace, explain_cell(trace, id, chosen->row, chosen->col), options);
        !remark.empty())
      remarks.push_back(remark);
  return finished(std::move(page), subject, of_head, std::nullopt, false, remarks);
}

Result<Drawing> draw_writers(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  const Trace& trace = subject.trace;
  const auto cell = TRY(asked_cell(subject, options));
  const auto writers = TRY(writer_split(trace, options.head, cell));
  const std::string query =
                        axis_label(trace.query_tokens(options.head.stack).tokens[static_cast<std::size_t>(cell.query)]),
                    key = axis_label(trace.key_tokens(options.head.stack).tokens[static_cast<std::size_t>(cell.key)]);
  const ScoreSplit& split = writers.split;
  Page page = new_page(options, measure);
  add_title(page, head_label(options.head), query + " → " + key);
  std::string line = filled(words(options.language, kInsideWords.score_and_sum),
                            {score_text(split.score), std::to_string(split.terms.size()), score_text(split.sum)});
  if (split.blocked) line += words(options.language, kInsideWords.before_mask);
  add_lines(page, line, page.label, Role::label, page.ink.text);
  page.y += 0.5f * page.label;
  const std::vector<Token> rows = writer_labels(options.language, writers.queries),
                           columns = writer_labels(options.language, writers.keys);
  const ColourScale scale = writers_scale(options.theme, writers);
  add_large_map(page, {writers.sums, &rows, &columns}, std::min(page.room(), 0.85f * page.fair_height()), kLargestNamed,
                scale);
  add_colour_bar(page, scale, words(options.language, kInsideWords.part_of_score), options.language, false);
  page.y += 0.3f * page.label;
  const std::string others = add_largest_terms(page, split, writers.order, options, [&](const ScoreTerm& term) {
    return TermWords{.from = writer_in(options.language, term.query),
                     .times = "× " + writer_in(options.language, term.key)};
  });
  std::vector<std::string> remarks{filled(words(options.language, kInsideWords.map_of_writers), {query, key})};
  if (!others.empty()) remarks.push_back(others);
  return finished(std::move(page), subject, options, std::nullopt, false, remarks);
}

}  // namespace headlight
