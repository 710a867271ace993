#include "figure/map_items.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/utf8.h"
#include "derived/fold.h"
#include "figure/labels.h"
#include "figure/map_kinds.h"
#include "math/attention.h"
#include "words/chat_words.h"

namespace headlight {
namespace {

/// More labels than this are not measured: they would not be drawn either.
constexpr std::size_t kMostLabels = 4096;
constexpr float kLabelGap = 0.5f;  // between labels and cells, in ems
constexpr float kBand = 1.3f;      // the width of a role's band, in ems

bool is_label(Index i, Index step) { return i % step == 0; }

void add_row_labels(Page& page, const AxisText& axis, float size, const MapLayout& layout) {
  if (!layout.rows) return;
  for (std::size_t i = 0; i < axis.labels.size(); ++i) {
    if (!is_label(static_cast<Index>(i), layout.row_step)) continue;
    const float y = layout.plot.y + (static_cast<float>(i) + 0.5f) * layout.cell;
    add_text(page, {.at = {layout.plot.x - kLabelGap * size, y},
                    .text = axis.labels[i],
                    .size = size,
                    .role = Role::label,
                    .colour = axis.faint[i] ? page.ink.dim : page.ink.text,
                    .anchor = Anchor::right});
  }
}

TextRotation turn_of(const std::string& label, ColumnLabels columns) {
  if (columns == ColumnLabels::horizontal) return TextRotation::level;
  return columns == ColumnLabels::stacked || stands_in_column(label) ? TextRotation::stacked : TextRotation::upwards;
}

void add_column_labels(Page& page, const AxisText& axis, float size, const MapLayout& layout) {
  if (layout.columns == ColumnLabels::none) return;
  for (std::size_t j = 0; j < axis.labels.size(); ++j) {
    if (!is_label(static_cast<Index>(j), layout.column_step)) continue;
    const TextRotation turn = turn_of(axis.labels[j], layout.columns);
    const float x = layout.plot.x + (static_cast<float>(j) + 0.5f) * layout.cell, y = layout.plot.y - kLabelGap * size;
    add_text(page, {.at = {x, turn == TextRotation::level ? y - size / 2 : y},
                    .text = axis.labels[j],
                    .size = size,
                    .role = Role::label,
                    .colour = axis.faint[j] ? page.ink.dim : page.ink.text,
                    .anchor = Anchor::middle,
                    .turn = turn});
  }
}

void add_values(Page& page, const Matrix& weights, const MapLayout& layout, const ColourScale& scale) {
  const float size = std::min(page.value, layout.cell / 2.2f);
  if (size < page.least_label) return;
  for (Index i = 0; i < weights.rows(); ++i)
    for (Index j = 0; j < weights.cols(); ++j) {
      if (std::isnan(weights(i, j)) || is_blocked(scale, weights(i, j))) continue;
      const Box cell = cell_box(layout, i, j);
      add_text(page, {.at = {cell.x + cell.w / 2, cell.y + cell.h / 2},
                      .text = scale.diverging ? signed_cell_number(weights(i, j)) : cell_number(weights(i, j)),
                      .size = size,
                      .role = Role::value,
                      .colour = text_on(colour_of(scale, weights(i, j))),
                      .anchor = Anchor::middle});
    }
}

}  // namespace

AxisText axis_text(const std::vector<Token>& tokens, float size, const TextWidth& measure) {
  AxisText axis;
  if (tokens.size() > kMostLabels) return axis;
  for (const Token& token : tokens) {
    axis.labels.push_back(piece_label(token));
    axis.faint.push_back(token.pad);
    axis.metrics.add(axis.labels.back(), measure(axis.labels.back(), size));
  }
  return axis;
}

bool has_blocked(const Matrix& weights) { return (weights.array() < 0).any(); }

PrintedMap printed_map(const FigureSubject& subject, const HeadRef& head, Index most) {
  const Trace& trace = subject.trace;
  if (const FoldedStack* folded = folded_stack(subject, head.stack))
    return {pooled(folded->map(head), most), &folded->fold.queries.tokens, &folded->fold.keys.tokens};
  PrintedMap map{{}, &trace.query_tokens(head.stack).tokens, &trace.key_tokens(head.stack).tokens};
  if (const DerivedMaps* other = other_maps_of(subject, head.stack)) {
    map.weights = pooled(*other->map(head), most);
  } else if (most <= kThumbnail || std::max(map.num_queries(), map.num_keys()) <= kThumbnail) {
    map.weights = pooled(trace.head(head).thumbnail, most);
  } else {
    const std::atomic<bool> stop = false;
    const Region whole{.head = head, .num_queries = map.num_queries(), .num_keys = map.num_keys()};
    map.weights = region_weights(trace, whole, most, stop);
  }
  return map;
}

MapAxes map_axes(const Page& page, const PrintedMap& map, float side) {
  MapAxes axes;
  for (const float size : {page.label, std::max(0.82f * page.label, page.least_label), page.least_label}) {
    axes = {axis_text(*map.queries, size, page.measure), axis_text(*map.keys, size, page.measure), size};
    const MapLayout layout = layout_of(map, axes, {0, 0, side, side});
    if (layout.row_step == 1 && layout.column_step == 1 && layout.rows && layout.columns != ColumnLabels::none)
      return axes;
  }
  return axes;
}

MapLayout layout_of(const PrintedMap& map, const MapAxes& axes, const Box& area) {
  return layout_map(area, map.num_queries(), map.num_keys(), axes.queries.metrics, axes.keys.metrics,
                    kLineOfText * axes.size);
}

float label_height(const MapAxes& axes, const MapLayout& layout) {
  const float gap = kLabelGap * axes.size;
  switch (layout.columns) {
    case ColumnLabels::none: break;
    case ColumnLabels::horizontal: return axes.size + gap;
    case ColumnLabels::stacked: return axes.size * static_cast<float>(axes.keys.metrics.longest) + gap;
    case ColumnLabels::rotated:
      return std::max({axes.keys.metrics.widest_turned, axes.size * static_cast<float>(axes.keys.metrics.most_standing),
                       axes.size}) +
             gap;
  }
  return 0;
}

float room_of_bands(const Page& page, const PrintedMap& map) {
  const bool none =
      role_runs(*map.queries, 0, map.num_queries()).empty() && role_runs(*map.keys, 0, map.num_keys()).empty();
  return none ? 0 : kBand * page.label + kLabelGap * page.label;
}

void add_role_bands(Page& page, const PrintedMap& map, const MapLayout& layout, Point left_top,
                    const FigureOptions& options) {
  const float width = kBand * page.label, out = width + kLabelGap * page.label, gap = std::min(1.0f, layout.cell / 4);
  const auto add = [&](const RoleRun& run, bool of_rows) {
    const float place = static_cast<float>(run.first) * layout.cell + gap / 2;
    const float length = static_cast<float>(run.count) * layout.cell - gap;
    const Box box = of_rows ? Box{left_top.x - out, layout.plot.y + place, width, length}
                            : Box{layout.plot.x + place, left_top.y - out, length, width};
    const Rgb colour = role_colour(options.theme, run.role);
    page.drawing.items.emplace_back(Rectangle{.box = box, .fill = colour});
    const bool stacked = of_rows && options.language == Language::zh;
    for (const Words* words : {&role_words(run.role), &short_role_words(run.role)}) {
      const std::string name = headlight::words(options.language, *words);
      const float wide = page.measure(name, page.least_label);
      const float needed = stacked ? page.least_label * static_cast<float>(code_points(name).size()) : wide;
      if (needed + page.least_label / 4 > length) continue;
      const float x = box.x + box.w / 2, y = box.y + box.h / 2;
      add_text(page, {.at = {x, of_rows ? y + needed / 2 : y},
                      .text = name,
                      .size = page.least_label,
                      .role = Role::label,
                      .colour = text_on(colour),
                      .anchor = Anchor::middle,
                      .turn = !of_rows  ? TextRotation::level
                              : stacked ? TextRotation::stacked
                                        : TextRotation::upwards});
      break;
    }
  };
  for (const RoleRun& run : role_runs(*map.queries, 0, map.num_queries())) add(run, true);
  for (const RoleRun& run : role_runs(*map.keys, 0, map.num_keys())) add(run, false);
}

void add_role_strips(Page& page, const PrintedMap& map, const Box& plot, Point left_top, float width, Theme theme) {
  const float row = plot.h / static_cast<float>(map.num_queries()),
              column = plot.w / static_cast<float>(map.num_keys());
  const auto add = [&](const RoleRun& run, bool of_rows) {
    const float first = static_cast<float>(run.first), count = static_cast<float>(run.count);
    const Box box = of_rows ? Box{left_top.x - width, plot.y + first * row, width, count * row}
                            : Box{plot.x + first * column, left_top.y - width, count * column, width};
    page.drawing.items.emplace_back(Rectangle{.box = box, .fill = role_colour(theme, run.role)});
  };
  for (const RoleRun& run : role_runs(*map.queries, 0, map.num_queries())) add(run, true);
  for (const RoleRun& run : role_runs(*map.keys, 0, map.num_keys())) add(run, false);
}

void add_map(Page& page, const PrintedMap& map, const MapAxes& axes, const MapLayout& layout, const ColourScale& scale,
             bool values) {
  page.drawing.items.emplace_back(Cells{layout.plot, map.weights, scale});
  page.drawing.items.emplace_back(Rectangle{layout.plot, {}, page.ink.line, 0.5f});
  add_row_labels(page, axes.queries, axes.size, layout);
  add_column_labels(page, axes.keys, axes.size, layout);
  if (values && map.weights.rows() == map.num_queries() && map.weights.cols() == map.num_keys())
    add_values(page, map.weights, layout, scale);
}

}  // namespace headlight
