#include "gui/frame/map_view.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/formatted.h"
#include "derived/derived_maps.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/motion.h"
#include "gui/frame/special_columns.h"
#include "gui/frame/texture_ids.h"
#include "session/shown.h"
#include "view/viewport.h"
#include "words/answer_words.h"
#include "words/glosses.h"

namespace headlight {
namespace {

/// More labels than this are not measured: they would not be drawn either.
constexpr Index kMostLabels = 4096;
constexpr float kMostWord =
    96;  // pixels of the design: a longer word beside a map is cut, or it would take the map's room

/// More words than this beside a map are not read: their numbers stand in their place.
constexpr Index kMostWords = 40;

/// `glossed`: the examples' Chinese words have their English behind them, in the English window.
AxisWords labels_of(Gui& gui, const std::vector<Token>& tokens, Index first, Index count, LabelMetrics& metrics,
                    bool glossed = false) {
  metrics = {};
  if (count > kMostLabels) return {};
  const auto whole = [&gui, &tokens, first, glossed](Index at) {
    const Token& token = tokens[static_cast<std::size_t>(first + at)];
    std::string label = axis_label(token);
    if (glossed && !gui.chinese() && !gloss_of(token.text).empty()) label.append(" ").append(gloss_of(token.text));
    return label;
  };
  const auto fitted = [&gui](const std::string& label) {
    const auto measure = [&](const std::string& part) { return ImGui::CalcTextSize(gui.fonts.shown(part).c_str()).x; };
    return gui.fonts.shown(cut_to(label, kMostWord * gui.unit, measure));
  };
  AxisWords labels(count, [whole, fitted](Index at) { return fitted(whole(at)); });
  if (count <= kMostWords) {
    for (Index i = 0; i < count; ++i) {
      const std::string label = whole(i), drawn = fitted(label);
      metrics.add(label, ImGui::CalcTextSize(drawn.c_str()).x);
      labels.set(static_cast<std::size_t>(i), drawn);
    }
    return labels;
  }
  const std::string last = std::to_string(first + count - 1);
  metrics.add(last, ImGui::CalcTextSize(last.c_str()).x);
  metrics.widest_turned = ImGui::GetFontSize();  // numbers lie above their columns
  return labels;
}

std::optional<Index> place_in(Index at, Index first, Index count) {
  return at >= first && at < first + count ? std::optional(at - first) : std::nullopt;
}

void draw_values(Gui& gui, ImDrawList& list, const MapContent& content, const MapLayout& layout) {
  const FontScope small(gui, TextSize::small);
  if (layout.cell < ImGui::CalcTextSize(".00").x + 4 * gui.unit) return;
  const ColourScale scale = map_scale(gui.state, content);
  const std::vector<Index> pale = pale_columns(gui, content);
  for (Index i = 0; i < content.weights->rows(); ++i) {
    for (Index j = 0; j < content.weights->cols(); ++j) {
      const float weight = (*content.weights)(i, j);
      if (weight < kLeastPrinted) continue;
      const std::string text = cell_number(weight);
      const ImVec2 size = ImGui::CalcTextSize(text.c_str());
      const Box cell = cell_box(layout, i, j);
      const bool is_pale = std::binary_search(pale.begin(), pale.end(), j);
      const ImU32 ink = is_pale ? gui.colours().text : to_imgui(text_on(colour_of(scale, weight)));
      list.AddText({std::round(cell.x + (cell.w - size.x) / 2), std::round(cell.y + (cell.h - size.y) / 2)}, ink,
                   text.c_str());
    }
  }
}

/// Whether a newer answer is awaited. A training replaces its answers every moment: then the one on the screen is never the
/// last one.
bool is_late(const AppState& state) { return is_stale(state) && !(state.training && is_active(*state.training)); }

std::string part_text(const Gui& gui, const Viewport& part) {
  return formatted("%s %d–%d × %d–%d", gui.word(kAnswerWords.part_of_pattern), static_cast<int>(part.first_query),
                   static_cast<int>(part.first_query + part.num_queries - 1), static_cast<int>(part.first_key),
                   static_cast<int>(part.first_key + part.num_keys - 1));
}

/// The outline of a cell of the pattern, where the map has it.
void outline_cell(Gui& gui, ImDrawList& list, const MapContent& content, const MapLayout& layout, const CellRef& cell,
                  float thickness) {
  const auto row = map_row(content, cell.query), column = map_column(content, cell.key);
  if (row && column) outline_box(gui, list, cell_box(layout, *row, *column), thickness);
}

/// A step between numbers on an axis that is at least so long: 5, 10, 20, 50, 100 …
Index round_step(Index least) {
  for (Index decade = 1;; decade *= 10)
    for (const Index step : {5 * decade, 10 * decade, 20 * decade})
      if (step >= least) return step;
}

/// The number of a column, or of the lit one its word, which covers the numbers beside it.
void column_number(Gui& gui, ImDrawList& list, const AxisLabels& labels, const MapLayout& layout, Index j, Index step,
                   const LabelInks& inks, std::optional<Index> lit) {
  const Index number = j + labels.first_key;
  if (j != lit && number % step != 0) return;
  const std::string label = j == lit ? labels.keys[static_cast<std::size_t>(j)] : std::to_string(number);
  const float width = ImGui::CalcTextSize(label.c_str()).x;
  if (j != lit && lit) {
    const float word = ImGui::CalcTextSize(labels.keys[static_cast<std::size_t>(*lit)].c_str()).x;
    if (std::abs(static_cast<float>(j - *lit)) * layout.cell < (width + word) / 2 + 4 * gui.unit) return;
  }
  const float x = layout.plot.x + (static_cast<float>(j) + 0.5f) * layout.cell;
  list.AddText({std::round(x - width / 2), std::round(layout.plot.y - 1.3f * ImGui::GetFontSize())},
               j == lit ? gui.colours().accent : inks.columns(j), label.c_str());
}

/// The rows and columns of words that the model does not know; where it knows none, the whole map.
void hatch_map(const Gui& gui, ImDrawList& list, const MapContent& content, const MapLayout& layout) {
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
void draw_labels(Gui& gui, ImDrawList& list, const MapContent& content, const AxisLabels& labels,
                 const MapLayout& layout, const std::optional<CellRef>& lit) {
  const auto ink = [&](const std::vector<Token>& tokens, Index first) {
    return [&gui, &tokens, first](Index i) {
      const Token& token = tokens[static_cast<std::size_t>(first + i)];
      return token.pad ? gui.colours().faint : token.known ? gui.colours().dim : gui.colours().caution;
    };
  };
  draw_axis_labels(gui, list, labels, layout,
                   {.rows = ink(row_tokens(gui.state, content), content.region.first_query),
                    .columns = ink(column_tokens(gui.state, content), content.region.first_key)},
                   lit ? map_row(content, lit->query) : std::nullopt,
                   lit ? map_column(content, lit->key) : std::nullopt);
}

}  // namespace

const std::vector<Token>& row_tokens(const AppState& state, const MapContent& content) {
  return content.folded ? content.folded->fold.queries.tokens
                        : state.trace->query_tokens(content.region.head.stack).tokens;
}

const std::vector<Token>& column_tokens(const AppState& state, const MapContent& content) {
  return content.folded ? content.folded->fold.keys.tokens : state.trace->key_tokens(content.region.head.stack).tokens;
}

void outline_box(const Gui& gui, ImDrawList& list, Box box, float thickness) {
  const float least = 5 * gui.unit, wider = std::max(0.0f, least - box.w), higher = std::max(0.0f, least - box.h);
  box = {box.x - wider / 2, box.y - higher / 2, box.w + wider, box.h + higher};
  list.AddRect(top_left(box), bottom_right(box), gui.colours().accent, 0, 0, thickness);
}

void draw_axis_labels(Gui& gui, ImDrawList& list, const AxisLabels& labels, const MapLayout& layout,
                      const LabelInks& inks, std::optional<Index> lit_row, std::optional<Index> lit_column) {
  const float text = ImGui::GetFontSize(), gap = text * 0.3f;
  // A thinned-out axis always names the lit row and column; the neighbours it would touch step aside.
  const auto is_named = [](Index i, std::optional<Index> lit, Index step) {
    return i == lit || (i % step == 0 && !(lit && std::abs(i - *lit) < step));
  };
  const auto number_step = [&](Index first, std::size_t count, float room) {
    const std::string last = std::to_string(first + static_cast<Index>(count));
    const float width = room > 0 ? room : ImGui::CalcTextSize(last.c_str()).x + 0.8f * text;
    return round_step(static_cast<Index>(std::ceil(width / layout.cell)));
  };
  const Index row_step = labels.number_queries
                             ? number_step(labels.first_query, labels.queries.size(), text * kThinnedPitch)
                             : layout.row_step;
  for (std::size_t at = 0; layout.rows && at < labels.queries.size(); ++at) {
    const auto i = static_cast<Index>(at), number = i + labels.first_query;
    const bool is_number = labels.number_queries && i != lit_row;
    if (is_number
            ? number % row_step != 0 || (lit_row && static_cast<float>(std::abs(i - *lit_row)) * layout.cell < text)
            : !is_named(i, lit_row, row_step))
      continue;
    const std::string label = is_number ? std::to_string(number) : labels.queries[at];
    const float width = ImGui::CalcTextSize(label.c_str()).x;
    const float y = layout.plot.y + (static_cast<float>(i) + 0.5f) * layout.cell - text / 2;
    list.AddText({std::round(layout.plot.x - gap - width), std::round(y)},
                 i == lit_row ? gui.colours().accent : inks.rows(i), label.c_str());
  }
  if (layout.columns == ColumnLabels::none) return;
  const Index column_step =
      labels.number_keys ? number_step(labels.first_key, labels.keys.size(), 0) : layout.column_step;
  for (std::size_t at = 0; at < labels.keys.size(); ++at) {
    const auto j = static_cast<Index>(at);
    const float x = layout.plot.x + (static_cast<float>(j) + 0.5f) * layout.cell;
    const float bottom = layout.plot.y - gap;
    if (labels.number_keys) {
      column_number(gui, list, labels, layout, j, column_step, inks, lit_column);
      continue;
    }
    if (!is_named(j, lit_column, column_step)) continue;
    const std::string& label = labels.keys[at];
    const ImU32 colour = j == lit_column ? gui.colours().accent : inks.columns(j);
    if (layout.columns == ColumnLabels::horizontal)
      list.AddText({std::round(x - ImGui::CalcTextSize(label.c_str()).x / 2), std::round(bottom - text)}, colour,
                   label.c_str());
    else if (layout.columns == ColumnLabels::stacked || stands_in_column(label))
      draw_stacked(list, x, bottom, colour, label);
    else draw_rotated(list, x, bottom, colour, label);
  }
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
  }
  content.region.num_queries = content.folded ? content.folded->map(head).rows() : trace.queries(head.stack);
  content.region.num_keys = content.folded ? content.folded->map(head).cols() : trace.keys(head.stack);
  return content;
}

std::optional<Index> map_row(const MapContent& content, Index query) {
  if (content.folded) return content.folded->fold.queries.group(query);
  return place_in(query, content.region.first_query, content.region.num_queries);
}

std::optional<Index> map_column(const MapContent& content, Index key) {
  if (content.folded) return content.folded->fold.keys.group(key);
  return place_in(key, content.region.first_key, content.region.num_keys);
}

AxisWords::AxisWords(Index count, std::function<std::string(Index)> make)
    : make_(std::move(make)), words_(static_cast<std::size_t>(count)) {}

const std::string& AxisWords::operator[](std::size_t at) const {
  if (!words_[at]) words_[at] = make_(static_cast<Index>(at));
  return *words_[at];
}

std::vector<std::string> AxisWords::all() const {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < size(); ++at) all.push_back((*this)[at]);
  return all;
}

AxisLabels axis_labels(Gui& gui, const std::vector<Token>& queries, const std::vector<Token>& keys,
                       const Viewport& part) {
  const Viewport shown = whole_or(part, static_cast<Index>(queries.size()), static_cast<Index>(keys.size()));
  AxisLabels labels;
  labels.first_query = shown.first_query;
  labels.first_key = shown.first_key;
  labels.number_queries = shown.num_queries > kMostWords;
  labels.number_keys = shown.num_keys > kMostWords;
  labels.queries = labels_of(gui, queries, shown.first_query, shown.num_queries, labels.query_metrics);
  if (&queries == &keys && shown.first_key == shown.first_query && shown.num_keys == shown.num_queries) {
    labels.keys = labels.queries;
    labels.key_metrics = labels.query_metrics;
  } else {
    labels.keys = labels_of(gui, keys, shown.first_key, shown.num_keys, labels.key_metrics);
  }
  return labels;
}

AxisLabels axis_labels(Gui& gui, const MapContent& content) {
  const Region& region = content.region;
  AxisLabels labels = axis_labels(gui, row_tokens(gui.state, content), column_tokens(gui.state, content),
                                  {region.first_query, region.num_queries, region.first_key, region.num_keys});
  // The large map, which prints its numbers, has room for the words' English beside its rows.
  if (content.values && !gui.chinese() && !labels.number_queries)
    labels.queries = labels_of(gui, row_tokens(gui.state, content), region.first_query, region.num_queries,
                               labels.query_metrics, true);
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

MapLayout map_layout(const MapContent& content, const AxisLabels& labels, const Box& area) {
  return layout_map(area, content.region.num_queries, content.region.num_keys, labels.query_metrics, labels.key_metrics,
                    ImGui::GetFontSize());
}

ColourScale map_scale(const AppState& state, const MapContent& content) {
  ColourScale scale = colour_scale(state);
  if (state.view.own_range && content.weights->size() > 0) scale.top = nice_range(content.weights->maxCoeff());
  return scale;
}

std::optional<CellRef> draw_map(Gui& gui, ImDrawList& list, const MapContent& content, const AxisLabels& labels,
                                const MapLayout& layout, float opacity) {
  const ViewState& view = gui.state.view;
  const ColourScale scale = map_scale(gui.state, content);
  if (gui.motion && content.slot != 0)
    gui.motion->draw(gui.maps, list, content.slot, *content.weights, content.version, layout.plot, scale, opacity);
  else
    gui.maps.draw(list, *content.weights, content.version, top_left(layout.plot), bottom_right(layout.plot), scale,
                  opacity);
  pale_special_columns(gui, list, content, layout);
  list.AddRect({layout.plot.x - 1, layout.plot.y - 1}, {layout.plot.right() + 1, layout.plot.bottom() + 1},
               gui.colours().line);
  hatch_map(gui, list, content, layout);
  const auto lit = view.hovered ? view.hovered : view.pinned;
  draw_labels(gui, list, content, labels, layout, lit);
  const bool cell_for_cell =
      content.weights->rows() == content.region.num_queries && content.weights->cols() == content.region.num_keys;
  if (content.values && cell_for_cell) draw_values(gui, list, content, layout);
  if (view.pinned) outline_cell(gui, list, content, layout, *view.pinned, 2 * gui.unit);
  if (view.hovered) outline_cell(gui, list, content, layout, *view.hovered, gui.unit);

  const ImVec2 mouse = ImGui::GetIO().MousePos;
  auto cell = cell_at(layout, content.region.num_queries, content.region.num_keys, mouse.x, mouse.y);
  if (!cell) return std::nullopt;
  if (content.folded)
    return CellRef{content.folded->fold.queries.groups[static_cast<std::size_t>(cell->query)].first,
                   content.folded->fold.keys.groups[static_cast<std::size_t>(cell->key)].first};
  return CellRef{cell->query + content.region.first_query, cell->key + content.region.first_key};
}

}  // namespace headlight
