// Inside a block: the steps behind one weight, and the way of the data, as the window's Inside view draws them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/within.h"
#include "derived/head_stats.h"
#include "figure/drawing/diagram_layout.h"
#include "figure/head_titles.h"
#include "figure/inside_parts.h"
#include "figure/labels.h"
#include "figure/page.h"
#include "math/attention.h"
#include "model/head_text.h"

namespace headlight {
namespace {

constexpr float kLeastStep = 26;      // ems: a column of steps is not narrower
constexpr float kWidestDiagram = 64;  // ems
constexpr float kLeastType = 2.5f;    // points

InsideType type_of(float label) {
  return {.title = 1.1f * label,
          .small = label,
          .title_line = 1.1f * kLineOfText * label,
          .small_line = kLineOfText * label,
          .unit = label / 10.4f};
}

void add_parts(Page& page, InsideParts parts, const Picture& picture, bool is_signed, Theme theme) {
  if (parts.picture) {
    page.drawing.items.emplace_back(Cells{*parts.picture, picture.values, picture_scale(theme, picture, is_signed)});
    page.drawing.items.emplace_back(Rectangle{*parts.picture, {}, page.ink.line, 0.5f});
  }
  for (Text& text : parts.texts) page.drawing.items.emplace_back(std::move(text));
}

Drawing finished(Page page, const FigureSubject& subject, const FigureOptions& options) {
  const std::string colours =
      either(options.language, "colours of each picture: up to its largest number, rose below 0, blue above",
             "每幅图的颜色到其最大的数为止：0 以下玫红，以上蓝");
  return finished(std::move(page), subject, options, std::nullopt, false, {colours});
}

/// `机票 → 订了  0.923`
std::string cell_title(const FigureSubject& subject, const HeadRef& head, const CellRef& cell) {
  const auto label = [](const Tokens& tokens, Index at) {
    return axis_label(tokens.tokens[static_cast<std::size_t>(at)]);
  };
  const float weight = attention_rows(subject.trace, head, cell.query, 1)(0, cell.key);
  return label(subject.trace.query_tokens(head.stack), cell.query) + " → " +
         label(subject.trace.key_tokens(head.stack), cell.key) + "  " + tick_number(weight);
}

/// The steps in columns of about the same height: the first that stands in each but the first.
std::vector<std::size_t> column_starts(const std::vector<float>& heights, std::size_t columns) {
  const float all = std::accumulate(heights.begin(), heights.end(), 0.0f);
  std::vector<std::size_t> starts;
  float above = 0;
  for (std::size_t i = 0; i < heights.size(); ++i) {
    const float share = all * static_cast<float>(starts.size() + 1) / static_cast<float>(columns);
    if (starts.size() + 1 < columns && i > 0 && above + heights[i] / 2 > share) starts.push_back(i);
    above += heights[i];
  }
  return starts;
}

}  // namespace

Result<Drawing> draw_steps(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  const Trace& trace = subject.trace;
  CellRef cell = brightest_of_last_row(trace, options.head);
  cell = {options.query.value_or(cell.query), options.key.value_or(cell.key)};
  const Index queries = trace.queries(options.head.stack), keys = trace.keys(options.head.stack);
  if (const auto valid = check_within("figure", "query", cell.query, queries); !valid) return valid.error();
  if (const auto valid = check_within("figure", "key", cell.key, keys); !valid) return valid.error();
  Page page = new_page(options, measure);
  add_title(page, head_label(options.head), cell_title(subject, options.head, cell));
  const std::vector<Step> steps = steps_of(trace, options.head, cell);
  const InsideType type = type_of(page.label);
  std::vector<Picture> pictures;
  std::vector<float> heights;
  for (const Step& step : steps) {
    pictures.push_back(picture_of(step));
    heights.push_back(step_height(step, pictures.back(), type));
  }
  const auto columns = std::clamp<std::size_t>(static_cast<std::size_t>(page.room() / (kLeastStep * page.label)), 1,
                                               std::max<std::size_t>(1, steps.size()));
  const float gap = 1.5f * page.label;
  const float width = (page.room() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  const std::vector<std::size_t> starts = column_starts(heights, columns);
  float x = page.left(), y = page.y, bottom = page.y;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (std::find(starts.begin(), starts.end(), i) != starts.end()) x += width + gap, y = page.y;
    const Box box{x, y, width, heights[i]};
    add_parts(page, step_parts(options.language, trace, steps[i], pictures[i], i, box, type, page.ink, measure),
              pictures[i], is_signed(steps[i].id), options.theme);
    y += heights[i];
    bottom = std::max(bottom, y);
  }
  page.y = bottom;
  return finished(std::move(page), subject, options);
}

namespace {

void add_edge(Page& page, const std::vector<Point>& line, Point origin, const Edge& edge, float head) {
  const float width = edge.residual ? 0.35f : 0.6f;
  for (std::size_t i = 1; i < line.size(); ++i)
    page.drawing.items.emplace_back(Stroke{{origin.x + line[i - 1].x, origin.y + line[i - 1].y},
                                           {origin.x + line[i].x, origin.y + line[i].y},
                                           width,
                                           page.ink.dim,
                                           i + 1 == line.size() ? head : 0});
}

/// The diagram at a size of type that lets it fit into the page.
DiagramLayout diagram_layout(const Diagram& diagram, const Page& page, float& label) {
  for (;; label *= 0.94f) {
    const float unit = label / 10.4f;
    const DiagramMeasures measures{.node_height = kLineOfText * label + 32 * unit,
                                   .pattern_height = kLineOfText * label + 104 * unit,
                                   .gap = 14 * unit,
                                   .side_gap = 8 * unit,
                                   .lane = 9 * unit,
                                   .least_node = 52 * unit};
    DiagramLayout layout = layout_diagram(diagram, std::min(page.room(), kWidestDiagram * label), measures);
    if (layout.width <= page.room() || label < kLeastType) return layout;
  }
}

}  // namespace

Drawing draw_diagram(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  const Trace& trace = subject.trace;
  Page page = new_page(options, measure);
  add_title_of_head(page, subject, options, options.head);
  const Diagram diagram = diagram_of(trace, options.head);
  float label = page.label;
  const DiagramLayout layout = diagram_layout(diagram, page, label);
  const InsideType type = type_of(label);
  const Point origin{page.left() + std::max(0.0f, (page.room() - layout.width) / 2), page.y};
  for (std::size_t e = 0; e < layout.edges.size(); ++e)
    add_edge(page, layout.edges[e], origin, diagram.edges[e], 4 * type.unit);
  const Index around = options.query.value_or(0);
  for (std::size_t n = 0; n < diagram.nodes.size(); ++n) {
    const Node& node = diagram.nodes[n];
    const Box box{origin.x + layout.nodes[n].x, origin.y + layout.nodes[n].y, layout.nodes[n].w, layout.nodes[n].h};
    page.drawing.items.emplace_back(Rectangle{box, page.drawing.background, page.ink.dim, 0.5f});
    const Picture picture =
        exists(trace, node.shows) ? picture_of(trace, node.shows, around, kNodeRows, kNodeColumns) : Picture{};
    add_parts(page, node_parts(options.language, trace, node, picture, box, type, page.ink, measure), picture,
              is_signed(node.shows), options.theme);
  }
  page.y = origin.y + layout.height;
  return finished(std::move(page), subject, options);
}

}  // namespace headlight
