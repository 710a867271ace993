#include "gui/frame/map_view.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "derived/derived_maps.h"
#include "figure/map_kinds.h"
#include "gui/frame/draw.h"
#include "gui/frame/motion.h"
#include "gui/frame/scene.h"
#include "gui/frame/special_columns.h"
#include "gui/frame/texture_ids.h"
#include "session/shown.h"
#include "view/viewport.h"
#include "words/answer_words.h"
#include "words/words.h"

namespace headlight {
namespace {

/// More labels than this are not measured: they would not be drawn either.
constexpr Index kMostLabels = 4096;
/// Pixels of the design: a longer word beside a map is cut, or it would take the map's room. Among numbers only the lit
/// word stands, for which this much is kept.
constexpr float kMostWord = 96, kMostLit = 64;

/// `glossed`: the examples' Chinese words have their English behind them, in the English window.
AxisText labels_of(Gui& gui, const std::vector<Token>& tokens, Index first, Index count, bool glossed = false) {
  AxisText axis{.words = {}, .metrics = {}, .first = first, .numbers = count > kMostWords};
  if (count > kMostLabels) return axis;
  const float most = (axis.numbers ? kMostLit : kMostWord) * gui.unit;
  const float em = gui.fonts.pixels(TextSize::small) / kLineOfEm;
  const auto width = [measure = window_measure(gui), em](const std::string& text) { return measure(text, em); };
  const auto whole = [&gui, &tokens, first, glossed](Index at) {
    const Token& token = tokens[static_cast<std::size_t>(first + at)];
    std::string label = axis_label(token);
    if (glossed && !gui.chinese() && !gloss_of(token.text).empty()) label.append(" ").append(gloss_of(token.text));
    return label;
  };
  axis.words = AxisWords(count, [whole, width, most](Index at) { return cut_to(whole(at), most, width); });
  for (Index i = 0; i < count && !axis.numbers; ++i)
    axis.metrics.add(whole(i), width(axis.words[static_cast<std::size_t>(i)]));
  if (axis.numbers) {
    const std::string last = std::to_string(first + count - 1);
    axis.metrics.add(last, std::max(width(last), most));
    axis.metrics.widest_turned = gui.fonts.pixels(TextSize::small);  // numbers lie above their columns
  }
  return axis;
}

std::optional<Index> offset_in(Index at, Index first, Index count) {
  return at >= first && at < first + count ? std::optional(at - first) : std::nullopt;
}

/// Whether a newer answer is awaited. A training replaces its answers every moment: then the one on the screen is never
/// the last one.
bool is_late(const AppState& state) { return is_stale(state) && !is_live(state); }

std::string part_text(const Gui& gui, const Viewport& part) {
  return formatted("%s %d–%d × %d–%d", gui.word(kAnswerWords.part_of_pattern), static_cast<int>(part.first_query),
                   static_cast<int>(part.first_query + part.num_queries - 1), static_cast<int>(part.first_key),
                   static_cast<int>(part.first_key + part.num_keys - 1));
}

/// The rows and columns of words that the model does not know; where it knows none, the whole map.
void hatch_map(const Gui& gui, ImDrawList& list, const MapContent& content, const MapLayout& layout) {
  if (content.grid) return;
  constexpr Index kMostHatched = 64;  // rows: below that a cell is no wider than a line of the hatch
  const Region& region = content.region;
  if (std::max(region.num_queries, region.num_keys) > kMostHatched) return;
  // Neighbours are one band, so that no cell is hatched twice along the same axis.
  const auto bands = [&](const std::vector<Token>& tokens, Index first, Index count, const auto& band) {
    for (Index i = 0, begin = 0; i <= count; ++i) {
      if (i < count && !tokens[static_cast<std::size_t>(first + i)].known) continue;
      if (i > begin) band(begin, i - begin);
      begin = i + 1;
    }
  };
  const Box& plot = layout.plot;
  bool all = false;
  bands(row_tokens(gui.state, content), region.first_query, region.num_queries, [&](Index row, Index count) {
    all = count == region.num_queries;
    hatch_unknown(
        gui, list,
        {plot.x, plot.y + static_cast<float>(row) * layout.cell, plot.w, static_cast<float>(count) * layout.cell});
  });
  if (all) return;
  bands(column_tokens(gui.state, content), region.first_key, region.num_keys, [&](Index column, Index count) {
    hatch_unknown(
        gui, list,
        {plot.x + static_cast<float>(column) * layout.cell, plot.y, static_cast<float>(count) * layout.cell, plot.h});
  });
}

/// Padding is faint, what the model does not know is amber.
LabelInk ink_of(const Gui& gui, const std::vector<Token>& tokens, Index first) {
  return [&colours = gui.colours(), &tokens, first](Index i) {
    const Token& token = tokens[static_cast<std::size_t>(first + i)];
    return to_rgb(token.pad ? colours.faint : token.known ? colours.dim : colours.caution);
  };
}

MapMarks marks_of(const Gui& gui, const MapContent& content) {
  const ViewState& view = gui.state.view;
  const Region& region = content.region;
  const auto row = [&](const auto& cell) { return cell ? map_row(content, cell->query) : std::nullopt; };
  const auto column = [&](const auto& cell) { return cell ? map_column(content, cell->key) : std::nullopt; };
  const auto cell = [&](const std::optional<CellRef>& of) {
    if (content.grid) return of ? content.grid->square_of(*of) : std::nullopt;
    return row(of) && column(of) ? std::optional(CellRef{*row(of), *column(of)}) : std::nullopt;
  };
  const auto lit = view.hovered ? view.hovered : view.pinned;
  MapMarks marks{.rows = ink_of(gui, row_tokens(gui.state, content), region.first_query),
                 .columns = ink_of(gui, column_tokens(gui.state, content), region.first_key),
                 .lit_row = row(lit),
                 .lit_column = column(lit),
                 .pinned = cell(view.pinned),
                 .hovered = cell(view.hovered)};
  if (content.kind == MapKind::weights)
    for (const WeightEdit& edit : gui.state.trace->request.edits.weights)
      if (const auto at = edit.head == content.head ? cell(edit.cell) : std::nullopt) marks.by_hand.push_back(*at);
  const bool cell_for_cell =
      content.weights->rows() == region.num_queries && content.weights->cols() == region.num_keys;
  if (!content.values || !cell_for_cell || content.shades) return marks;
  marks.numbers = content.weights;
  marks.scale = map_scale(gui.state, content);
  marks.look = {.least = kLeastPrinted, .pale = pale_columns(gui, content)};
  return marks;
}

/// A corner of the cell, and a bar between its row and the row's label.
void mark_by_hand(const Gui& gui, ImDrawList& list, const MapLayout& layout, const CellRef& cell) {
  const Box box = cell_box(layout, cell.query, cell.key);
  const float side = std::clamp(0.35f * box.w, 3 * gui.unit, 9 * gui.unit);
  const ImU32 colour = gui.colours().action;
  list.AddTriangleFilled({box.right() - side, box.y}, {box.right(), box.y}, {box.right(), box.y + side}, colour);
  if (layout.rows)
    list.AddRectFilled({layout.plot.x - 4 * gui.unit, box.y}, {layout.plot.x - gui.unit, box.bottom()}, colour);
}

}  // namespace

const std::vector<Token>& row_tokens(const AppState& state, const MapContent& content) {
  return content.folded ? content.folded->fold.queries.tokens
                        : state.trace->query_tokens(content.region.head.stack).tokens;
}

const std::vector<Token>& column_tokens(const AppState& state, const MapContent& content) {
  return content.folded ? content.folded->fold.keys.tokens : state.trace->key_tokens(content.region.head.stack).tokens;
}

MapStyle map_style(const Gui& gui, const TextWidth& measure) {
  const float line = gui.fonts.pixels(TextSize::small);
  return {.measure = measure,
          .ink = ink_colours(gui.state.settings.theme),
          .em = line / kLineOfEm,
          .line = line,
          .gap = 0.3f * line};
}

void draw_marks(Gui& gui, ImDrawList& list, const AxisLabels& labels, const MapLayout& layout, MapMarks marks) {
  const TextWidth measure = window_measure(gui);
  const MapStyle style = map_style(gui, measure);
  Drawing scene;
  MapStyle beside = style;
  beside.gap += marks.row_gap;
  add_row_labels(scene, labels.queries, layout, beside, marks.rows, marks.lit_row);
  add_column_labels(scene, labels.keys, layout, style, marks.columns, marks.lit_column);
  marks.look.size = style.em;
  if (marks.numbers && layout.cell >= measure(marks.scale.diverging ? "−.00" : ".00", style.em) + 4 * gui.unit)
    add_numbers(scene, *marks.numbers, layout, marks.scale, marks.look, style);
  const auto outline = [&](const std::optional<CellRef>& cell, float width) {
    if (cell) scene.add(cell_outline(cell_box(layout, cell->query, cell->key), 5 * gui.unit, style.ink.accent, width));
  };
  outline(marks.pinned, 2 * gui.unit);
  outline(marks.hovered, gui.unit);
  paint_scene(gui, list, scene, {});
  for (const CellRef& cell : marks.by_hand) mark_by_hand(gui, list, layout, cell);
}

void begin_motion(const Gui& gui) {
  if (gui.motion) gui.motion->begin_frame(ImGui::GetTime(), gui.state.settings.motion, is_late(gui.state));
}

float answer_opacity(const Gui& gui) {
  if (!is_late(gui.state)) return 1;
  return !gui.motion || gui.motion->seen_stale() ? kStaleOpacity : 1.0f;
}

MapContent whole_content(const AppState& state, HeadRef head) {
  const Trace& trace = *state.trace;
  MapContent content{.head = head,
                     .weights = &trace.head(head).thumbnail,
                     .version = thumbnail_version(state, head),
                     .region = {.head = head},
                     .values = false,
                     .folded = shown_fold(state, head.stack)};
  if (content.folded) content.weights = &content.folded->thumbnail(head);
  if (const DerivedMaps* other = shown_maps(state, head.stack)) {
    content.weights = other->map(head);
    content.kind = other->kind;
    content.shades = other->shades_of(head);
  }
  content.grid = shown_grids(state);
  if (content.grid) {
    content.weights = &content.grid->map(head);
    content.version = grid_version(state, head);
    content.region.num_queries = content.weights->rows();
    content.region.num_keys = content.weights->cols();
    return content;
  }
  content.region.num_queries = content.folded ? content.folded->map(head).rows() : trace.queries(head.stack);
  content.region.num_keys = content.folded ? content.folded->map(head).cols() : trace.keys(head.stack);
  return content;
}

bool shows_tokens(const MapContent& content) {
  return content.kind == MapKind::weights && !content.grid && (!content.folded || is_of_tokens(content.folded->fold));
}

CellRef cell_of(const MapContent& content, const CellRef& on_map) {
  if (content.grid) return content.grid->cell_of(on_map);
  if (content.folded) return content.folded->fold.cell_of(on_map);
  return {on_map.query + content.region.first_query, on_map.key + content.region.first_key};
}

std::optional<Index> map_row(const MapContent& content, Index query) {
  if (content.grid) return std::nullopt;
  if (content.folded) return content.folded->fold.queries.group(query);
  return offset_in(query, content.region.first_query, content.region.num_queries);
}

std::optional<Index> map_column(const MapContent& content, Index key) {
  if (content.grid) return std::nullopt;
  if (content.folded) return content.folded->fold.keys.group(key);
  return offset_in(key, content.region.first_key, content.region.num_keys);
}

AxisLabels axis_labels(Gui& gui, const std::vector<Token>& queries, const std::vector<Token>& keys,
                       const Viewport& part) {
  const Viewport shown = whole_or(part, static_cast<Index>(queries.size()), static_cast<Index>(keys.size()));
  AxisLabels labels{labels_of(gui, queries, shown.first_query, shown.num_queries), {}};
  if (&queries == &keys && shown.first_key == shown.first_query && shown.num_keys == shown.num_queries)
    labels.keys = labels.queries;
  else labels.keys = labels_of(gui, keys, shown.first_key, shown.num_keys);
  return labels;
}

AxisLabels axis_labels(Gui& gui, const MapContent& content) {
  if (content.grid) return {};  // the squares stand in the picture, which has no words
  const Region& region = content.region;
  AxisLabels labels = axis_labels(gui, row_tokens(gui.state, content), column_tokens(gui.state, content),
                                  {region.first_query, region.num_queries, region.first_key, region.num_keys});
  // The large map, which prints its numbers, has room for the words' English beside its rows.
  if (content.values && !gui.chinese() && !labels.queries.numbers)
    labels.queries = labels_of(gui, row_tokens(gui.state, content), region.first_query, region.num_queries, true);
  return labels;
}

std::optional<Viewport> turned(const Viewport& now, Index queries, Index keys, float cell_size,
                               const std::optional<CellRef>& under) {
  const float wheel = ImGui::GetIO().MouseWheel;
  if (under && wheel != 0) return zoomed(now, queries, keys, std::pow(1.25f, wheel), *under);
  if (now.num_queries == 0 || !ImGui::IsMouseDragging(1)) return std::nullopt;
  const ImVec2 moved = ImGui::GetMouseDragDelta(1);
  const auto cells = [&](float pixels) { return static_cast<Index>(pixels / cell_size); };
  if (cells(moved.x) == 0 && cells(moved.y) == 0) return std::nullopt;
  ImGui::ResetMouseDragDelta(1);
  return panned(now, queries, keys, {-cells(moved.y), -cells(moved.x)});
}

bool part_line(Gui& gui, const Viewport& part) {
  ImGui::AlignTextToFramePadding();
  dim_text(gui, part_text(gui, part));
  ImGui::SameLine(0, 8 * gui.unit);
  return flat_button(gui, "whole", gui.word(kAnswerWords.whole_pattern));
}

float part_line_width(Gui& gui, const Viewport& part) {
  const float button = button_width(gui.word(kAnswerWords.whole_pattern));
  const FontScope small(gui, TextSize::small);
  return ImGui::CalcTextSize(part_text(gui, part).c_str()).x + button + 16 * gui.unit;
}

PointedCell named_map(Gui& gui, const NamedMap& map, const Box& area) {
  constexpr float kLargestCell = 56;  // pixels of the design
  const FontScope small(gui, TextSize::small);
  const AxisLabels labels = axis_labels(gui, map.rows, map.columns);
  const auto rows = static_cast<Index>(map.rows.size()), columns = static_cast<Index>(map.columns.size());
  const MapLayout layout = layout_map(area, rows, columns, labels.queries.metrics, labels.keys.metrics,
                                      ImGui::GetFontSize(), kLargestCell * gui.unit);
  ImGui::SetCursorScreenPos(top_left(layout.plot));
  PointedCell pointed;
  pointed.clicked = ImGui::InvisibleButton(map.name.c_str(), {layout.plot.w, layout.plot.h});
  gui.name_box(map.name, layout.plot, BoxKind::map);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (ImGui::IsItemHovered()) pointed.cell = cell_at(layout, rows, columns, mouse.x, mouse.y);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  Drawing scene;
  scene.add(Cells{layout.plot, borrowed(map.values), map.scale});
  scene.add(Pen{gui.unit, 1}.frame(layout.plot, to_rgb(gui.colours().line)));
  paint_scene(gui, list, scene, {.opacity = map.opacity, .version = [&](std::size_t) { return map.version; }});
  const LabelInk ink = [&](Index) { return to_rgb(gui.colours().dim); };
  MapMarks marks{.rows = ink, .columns = ink, .hovered = pointed.cell, .numbers = &map.values, .scale = map.scale};
  if (pointed.cell) marks.lit_row = pointed.cell->query, marks.lit_column = pointed.cell->key;
  draw_marks(gui, list, labels, layout, std::move(marks));
  ImGui::SetCursorScreenPos({area.x, layout.plot.bottom() + 8 * gui.unit});
  return pointed;
}

MapLayout map_layout(const MapContent& content, const AxisLabels& labels, const Box& area) {
  return layout_map(area, content.region.num_queries, content.region.num_keys, labels.queries.metrics,
                    labels.keys.metrics, ImGui::GetFontSize());
}

ColourScale map_scale(const AppState& state, const MapContent& content) {
  const ColourScale scale = colour_scale(state);
  const bool own = (state.view.own_range || content.grid) && !state.view.range && content.weights->size() > 0;
  return own ? of_numbers(scale, *content.weights) : scale;
}

void draw_cells(Gui& gui, ImDrawList& list, const MapContent& content, const MapLayout& layout, float opacity) {
  Drawing map;
  const bool pixels = content.grid && !is_bare(content.grid->grid());
  if (pixels) map.add(Image{layout.plot, content.grid->trace->key_tokens().picture});
  map.add(content.shades ? Cells{layout.plot, borrowed(*content.shades), head_scale(gui.state.settings.theme)}
                         : Cells{layout.plot, borrowed(*content.weights), map_scale(gui.state, content),
                                 pixels ? cover_of(gui.state) : 1.0f});
  if (!content.shades) add_pale_columns(gui, map, content, layout);
  add_resting(gui, map, content, layout);
  map.add(Pen{gui.unit, 1}.frame(layout.plot, to_rgb(gui.colours().line)));
  const auto version = [&](std::size_t) { return content.version; };
  paint_scene(gui, list, map, {.opacity = opacity, .slot = content.slot, .version = version});
}

std::optional<CellRef> draw_map(Gui& gui, ImDrawList& list, const MapContent& content, const AxisLabels& labels,
                                const MapLayout& layout, float opacity) {
  draw_cells(gui, list, content, layout, opacity);
  hatch_map(gui, list, content, layout);
  MapMarks marks = marks_of(gui, content);
  marks.row_gap = resting_room(gui, content);
  draw_marks(gui, list, labels, layout, std::move(marks));
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto cell = cell_at(layout, content.region.num_queries, content.region.num_keys, mouse.x, mouse.y);
  return cell ? std::optional(cell_of(content, *cell)) : resting_cell(gui, content, layout, {mouse.x, mouse.y});
}

}  // namespace headlight
