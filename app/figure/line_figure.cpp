// One row or one column of every head as bars, as the window's One row and One column draw them.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/within.h"
#include "derived/head_stats.h"
#include "figure/head_titles.h"
#include "figure/line_bars.h"
#include "figure/map_items.h"
#include "figure/map_kinds.h"

namespace headlight {
namespace {

constexpr float kLeastColumn = 18;      // ems
constexpr float kFairLineShare = 1.5f;  // of a page's fair height, before the heads stand in more columns

/// The row or the column that is drawn.
HeadLine line_of(const FigureSubject& subject, const FigureOptions& options) {
  const bool of_query = options.kind == FigureKind::row;
  const auto& wanted = of_query ? options.query : options.key;
  if (wanted) return {options.head.stack, of_query, *wanted};
  const CellRef cell = brightest_of_last_row(subject.trace, options.head);
  return {options.head.stack, of_query, of_query ? cell.query : cell.key};
}

/// Its weights in one head, folded where the subject is.
Vector weights_of(const FigureSubject& subject, const HeadLine& line, const HeadRef& head) {
  const auto cut = [&](const Matrix& map, Index at) -> Vector {
    if (line.of_query) return map.row(at).cwiseMax(0.0f);
    return map.col(at).transpose().cwiseMax(0.0f);
  };
  if (const FoldedStack* folded = folded_stack(subject, line.stack))
    return cut(folded->map(head), *(line.of_query ? folded->fold.queries : folded->fold.keys).group(line.at));
  if (const DerivedMaps* other = other_maps_of(subject, line.stack)) return cut(*other->map(head), line.at);
  const std::atomic<bool> stop = false;
  return line_of(subject.trace, line, head, stop);
}

/// Errors: a word that the sentence does not have, or that is folded away.
Result<std::string> word_of(const FigureSubject& subject, const HeadLine& line) {
  const char* what = line.of_query ? "query" : "key";
  const Index count = line.of_query ? subject.trace.queries(line.stack) : subject.trace.keys(line.stack);
  if (const auto valid = check_within("figure", what, line.at, count); !valid) return valid.error();
  Index at = line.at;
  if (const FoldedStack* folded = folded_stack(subject, line.stack)) {
    const auto group = (line.of_query ? folded->fold.queries : folded->fold.keys).group(at);
    if (!group) return bad_input("figure", what, "a token that is not folded away", std::to_string(at));
    at = *group;
  }
  return axis_label(axis_tokens(subject, line.stack, line.of_query)[static_cast<std::size_t>(at)]);
}

struct Chart {
  std::size_t columns = 1, rows = 0;  // of heads
  float width = 0, gap = 0;           // of a column, and between columns
  LineLayout layout;                  // of the first column
};

/// As few columns as keep the page from being much higher than is pleasant.
Chart chart_of(const Page& page, std::size_t heads, Index count, const LabelMetrics& words, float tops) {
  Chart chart;
  chart.gap = 2 * page.label;
  for (std::size_t columns = 1; columns <= heads; ++columns) {
    const float width = (page.room() - chart.gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    if (columns > 1 && width < kLeastColumn * page.label) break;
    chart.columns = columns;
    chart.rows = (heads + columns - 1) / columns;
    chart.width = width;
    const LineSizes sizes{.text = kLineOfText * page.label,
                          .titles = std::min(0.3f * width, 16 * page.label),
                          .tops = tops,
                          .gap = 0.3f * page.label,
                          .most_words = std::numeric_limits<float>::infinity(),
                          .least_pitch = 2 * page.label,
                          .most_pitch = 4 * page.label};
    chart.layout = line_layout({page.left(), page.y, width, 0.8f * page.fair_height()}, static_cast<Index>(chart.rows),
                               count, words, sizes);
    if (static_cast<float>(chart.rows) * chart.layout.pitch <= kFairLineShare * page.fair_height()) break;
  }
  return chart;
}

void add_bars(Page& page, const std::vector<Bar>& bars, const Box& box, Rgb colour) {
  for (const Bar& bar : bars)
    if (bar.box.h > 0) page.drawing.items.emplace_back(Rectangle{bar.box, colour});
  page.drawing.items.emplace_back(Stroke{{box.x, box.bottom()}, {box.right(), box.bottom()}, 0.5f, page.ink.line});
}

std::vector<std::string> remarks_of(const Chart& chart, const FigureOptions& options, float top) {
  std::vector<std::string> remarks;
  const Language language = options.language;
  if (options.own_range)
    remarks.push_back(either(language,
                             "the bars of each head go up to its own largest number, which stands beside them",
                             "每个头的柱高到其自身的最大值，数值标在旁边"));
  else
    remarks.push_back(
        std::string(either(language, "bars as high as their numbers, all the height: ", "柱高为数值，满高：")) +
        tick_number(top));
  if (chart.layout.bars_drawn() < chart.layout.count)
    remarks.push_back(
        either(language, "each bar: the largest of the words that it stands for", "每根柱：其所代表的词中的最大值"));
  return remarks;
}

}  // namespace

Result<Drawing> draw_line(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  const HeadLine line = line_of(subject, options);
  const auto word = word_of(subject, line);
  if (!word) return word.error();
  Page page = new_page(options, measure);
  add_title(page, *word, line_title(options.language, line.of_query, kind_of(subject, line.stack)));
  const AxisText words = axis_text(axis_tokens(subject, line.stack, !line.of_query), page.label, measure);
  const Index count = static_cast<Index>(axis_tokens(subject, line.stack, !line.of_query).size());
  const std::vector<HeadRef> heads = options.heads.empty() ? maps_of_stack(subject, options.head.stack) : options.heads;
  const float tops = options.own_range ? measure("1.23e-05", page.label) + 0.6f * page.label : 0;
  const Chart chart = chart_of(page, heads.size(), count, words.metrics, tops);
  const float room = chart.layout.bars.x - page.left() - 0.8f * page.label;
  const auto titles = titles_of(page, subject, options, heads, room);
  const ColourScale scale = map_scale(subject, options);
  const Rgb colour = colour_map(options.theme, options.colours)[150], faint = page.ink.line;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const float shift = static_cast<float>(i / chart.rows) * (chart.width + chart.gap);
    const auto row = static_cast<Index>(i % chart.rows);
    LineLayout layout = chart.layout;
    layout.bars.x += shift;
    if (row == 0)
      for (Text& text : words_above(layout, words.labels, words.metrics, {}, page.label, kLineOfText * page.label,
                                    page.ink, measure))
        page.drawing.items.emplace_back(std::move(text));
    const Box box = layout.bars_of(row);
    const Vector weights = weights_of(subject, line, heads[i]);
    const float top = top_of_line(weights, scale.top, options.own_range), middle = box.y + box.h / 2;
    if (measure(titles[i].words.head, page.label) <= room) add_head_title(page, titles[i], page.left() + shift, middle);
    add_bars(page, bars_of_head(layout, row, weights, top), box, titles[i].off ? faint : colour);
    if (options.own_range)
      add_text(page, {.at = {page.left() + shift + chart.width, middle},
                      .text = tick_number(top),
                      .size = page.label,
                      .role = Role::value,
                      .colour = page.ink.dim,
                      .anchor = Anchor::right});
  }
  page.y = chart.layout.bars.y + static_cast<float>(chart.rows) * chart.layout.pitch;
  return finished(std::move(page), subject, options, std::nullopt, false, remarks_of(chart, options, scale.top));
}

}  // namespace headlight
