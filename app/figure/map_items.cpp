#include "figure/map_items.h"

#include <algorithm>
#include <atomic>

#include "derived/fold.h"
#include "figure/map_kinds.h"
#include "math/attention.h"

namespace headlight {
namespace {

/// More labels than this are not measured: they would not be drawn either.
constexpr std::size_t kMostLabels = 4096;
constexpr float kLabelGap = 0.5f;  // between labels and cells, in ems
constexpr float kBand = 1.3f;      // the width of a role's band, in ems

AxisText axis_text(const std::vector<Token>& tokens, float size, const TextWidth& measure) {
  AxisText axis;
  if (tokens.size() > kMostLabels || (!tokens.empty() && tokens.front().text.empty())) return axis;
  axis.words = AxisWords(static_cast<Index>(tokens.size()),
                         [&tokens](Index at) { return piece_label(tokens[static_cast<std::size_t>(at)]); });
  for (std::size_t at = 0; at < tokens.size(); ++at) axis.metrics.add(axis.words[at], measure(axis.words[at], size));
  return axis;
}

}  // namespace

bool has_blocked(const ColourScale& scale, const Matrix& weights) {
  return std::ranges::any_of(weights.reshaped(), [&](float weight) { return is_blocked(scale, weight); });
}

PrintedMap printed_map(const FigureSubject& subject, const HeadRef& head, Index most, Language language) {
  const Trace& trace = subject.trace;
  if (const FoldedStack* folded = folded_stack(subject, head.stack))
    return {pooled(folded->map(head), most), &folded->fold.queries.tokens, &folded->fold.keys.tokens};
  PrintedMap map{{}, &trace.query_tokens(head.stack).tokens, &trace.key_tokens(head.stack).tokens};
  if (const DerivedMaps* other = other_maps_of(subject, head.stack)) {
    map.weights = pooled(*other->map(head), most);
    if (const Matrix* shades = other->shades_of(head)) map.shades = *shades;
    if (const auto& reduced = other->reduced[static_cast<std::size_t>(head.stack)]) {
      map.queries = &reduced->rows(), map.keys = &reduced->columns();
      if (reduced->of.by.tokens) map.take(blocks_in(language, *map.queries), blocks_in(language, *map.keys));
    }
  } else if (most <= kThumbnail || std::max(map.num_queries(), map.num_keys()) <= kThumbnail) {
    map.weights = pooled(trace.head(head).thumbnail, most);
  } else {
    const Region whole{.head = head, .num_queries = map.num_queries(), .num_keys = map.num_keys()};
    map.weights = region_weights(trace, whole, most, kNeverStops);
  }
  return map;
}

PrintedMap printed_grid(const FigureSubject& subject, const FigureOptions& options, const HeadRef& head) {
  const auto& picture = subject.trace.key_tokens().picture;
  ShadeChoice choice = options.shades;
  choice.head = head;
  choice.heads = ShadeHeads::head;
  if (choice.words.empty()) choice.words.push_back(first_token(subject.trace));
  PrintedMap map{.weights = grid_of(picture->grid, shades_of(subject.trace, nullptr, choice, kNeverStops))};
  map.picture = picture;
  map.cover = is_bare(picture->grid) ? 1 : options.cover;
  const auto nameless = [](Index count) { return std::vector<Token>(static_cast<std::size_t>(count)); };
  map.take(nameless(picture->grid.rows), nameless(picture->grid.cols));
  return map;
}

MapAxes map_axes(const Page& page, const PrintedMap& map, const std::function<MapLayout(const MapAxes&)>& layout) {
  MapAxes axes;
  for (const float size : {page.label, std::max(0.82f * page.label, page.least_label), page.least_label}) {
    axes = {axis_text(*map.queries, size, page.measure), axis_text(*map.keys, size, page.measure), size};
    const MapLayout at = layout(axes);
    if (at.row_step == 1 && at.column_step == 1 && at.rows && at.columns != ColumnLabels::none) return axes;
  }
  return axes;
}

MapAxes map_axes(const Page& page, const PrintedMap& map, float side) {
  return map_axes(page, map, [&](const MapAxes& axes) { return layout_of(map, axes, {0, 0, side, side}); });
}

MapLayout layout_of(const PrintedMap& map, const MapAxes& axes, const Box& area, float largest_cell) {
  return layout_map(area, map.num_queries(), map.num_keys(), axes.queries.metrics, axes.keys.metrics,
                    kLineOfText * axes.size, largest_cell);
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

void add_role_strips(Page& page, const PrintedMap& map, const Box& plot, Point left_top, float width, Theme theme) {
  const float row = plot.h / static_cast<float>(map.num_queries()),
              column = plot.w / static_cast<float>(map.num_keys());
  const auto add = [&](const RoleRun& run, bool of_rows) {
    const float first = static_cast<float>(run.first), count = static_cast<float>(run.count);
    const Box box = of_rows ? Box{left_top.x - width, plot.y + first * row, width, count * row}
                            : Box{plot.x + first * column, left_top.y - width, count * column, width};
    page.drawing.add(Rectangle{.box = box, .fill = role_colour(theme, run.role)});
  };
  for (const RoleRun& run : role_runs(*map.queries, 0, map.num_queries())) add(run, true);
  for (const RoleRun& run : role_runs(*map.keys, 0, map.num_keys())) add(run, false);
}

MapStyle page_style(const Page& page, float size) {
  return {.measure = page.measure, .ink = page.ink, .em = size, .line = kLineOfText * size, .gap = kLabelGap * size};
}

LabelInk plain_ink(const Page& page, const std::vector<Token>& tokens) {
  return [&](Index i) { return tokens[static_cast<std::size_t>(i)].pad ? page.ink.dim : page.ink.text; };
}

void add_map(Page& page, const PrintedMap& map, const MapAxes& axes, const MapLayout& layout, const ColourScale& scale,
             bool values, const MapInks& inks) {
  const MapStyle style = page_style(page, axes.size);
  const auto ink_of = [&](const LabelInk& given, const std::vector<Token>& tokens) {
    return given ? given : plain_ink(page, tokens);
  };
  if (map.picture && !is_bare(map.picture->grid)) page.drawing.add(Image{layout.plot, map.picture});
  const bool shaded = map.shades.size() > 0;
  page.drawing.add(shaded ? Cells{layout.plot, shared(map.shades), head_scale(scale.theme)}
                          : Cells{layout.plot, shared(map.weights), scale, map.cover});
  page.drawing.add(Pen{}.frame(layout.plot, page.ink.line));
  add_row_labels(page.drawing, axes.queries, layout, style, ink_of(inks.rows, *map.queries));
  add_column_labels(page.drawing, axes.keys, layout, style, ink_of(inks.columns, *map.keys));
  const float size = std::min(page.value, layout.cell / 2.2f);
  if (values && !shaded && size >= page.least_label && map.weights.rows() == map.num_queries() &&
      map.weights.cols() == map.num_keys())
    add_numbers(page.drawing, map.weights, layout, scale, {.size = size}, style);
}

void add_large_map(Page& page, const PrintedMap& map, float side, float largest_cell, const ColourScale& scale,
                   const FigureOptions* roles) {
  const MapAxes axes = map_axes(page, map, side);
  std::vector<RoleRun> rows, columns;
  if (roles) rows = role_runs(*map.queries, 0, map.num_queries()), columns = role_runs(*map.keys, 0, map.num_keys());
  const float band = kBand * page.label, gap = kLabelGap * page.label,
              bands = rows.empty() && columns.empty() ? 0 : band + gap;
  const Box area{page.left() + bands, page.y + bands, page.room() - bands, side - bands};
  MapLayout layout = layout_of(map, axes, area, largest_cell);
  const float shift = std::max(0.0f, (page.right() - layout.plot.right()) / 2);
  layout.plot.x += shift;
  if (bands > 0)
    add_role_bands(page.drawing, rows, columns, layout, {area.x + shift, area.y},
                   {.language = roles->language,
                    .theme = roles->theme,
                    .width = band,
                    .out = bands,
                    .size = page.least_label,
                    .pad = page.least_label / 4},
                   page.measure);
  add_map(page, map, axes, layout, scale, true);
  page.y = layout.plot.bottom();
}

}  // namespace headlight
