#include <algorithm>
#include <cmath>
#include <utility>

#include "figure/labels.h"
#include "gui/frame/draw.h"
#include "gui/frame/map_view.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/relation_labels.h"
#include "gui/frame/scene.h"
#include "gui/heads/atlas_layout.h"
#include "gui/heads/derived_maps.h"
#include "gui/heads/grid_parts.h"
#include "gui/heads/heads.h"
#include "model/head_text.h"
#include "session/answer_state.h"
#include "session/head_grid.h"
#include "session/shown.h"
#include "words/relation_words.h"

namespace headlight {
namespace {

// Pixels of the design: the words beside the maps may always be as wide as the first, never wider than the second, and
// between them than this share of the atlas.
constexpr float kFreeLabel = 44, kMostLabel = 88, kLabelShare = 0.0715f;
// The least side of a map of some heads, where the window has room for it.
constexpr float kLeastShownMap = 110;
constexpr int kTitleLines = 2;            // above each of these at most
constexpr float kEdge = 2;                // for the outline of the chosen one
constexpr float kSide = 8, kHeader = 60;  // left and right of the maps; above them

void row_words_beside(Gui& gui, const Atlas& atlas, const MapContent& content) {
  if (atlas.layout.labels <= 0) return;
  const auto lit = gui.state.view.hovered ? gui.state.view.hovered : gui.state.view.pinned;
  const auto lit_row = lit ? map_row(content, lit->query) : std::nullopt;
  for (Index group = 0; group < atlas.layout.content.groups; ++group)
    for (Index head = 0; head < atlas.layout.content.heads; head += atlas.layout.columns) {
      MapLayout layout;
      layout.plot = atlas.at(atlas.layout.map_of(group, head));
      layout.cell = layout.plot.h / static_cast<float>(content.region.num_queries);
      layout.rows = true;
      layout.row_step = label_step(ImGui::GetFontSize(), layout.cell);
      const TextWidth measure = window_measure(gui);
      const auto dim = [&](Index) { return to_rgb(gui.colours().dim); };
      Drawing scene;
      add_row_labels(scene, atlas.labels.queries, layout, map_style(gui, measure), dim, lit_row);
      paint_scene(gui, scene, {});
    }
}

/// The layers at the left: a bracket around their maps, whose titles name them, or the names of a table's rows.
void layer_names(Gui& gui, const Atlas& atlas) {
  const AtlasLayout& layout = atlas.layout;
  if (layout.content.groups < 2) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float text = ImGui::GetFontSize();
  const auto step = layout.titles ? Index{1} : label_step(text, layout.pitch_y);
  for (Index layer = 0; layer < layout.content.groups; layer += step) {
    const Box bracket = atlas.at(layout.bracket(layer));
    const ImU32 colour = layer == gui.state.view.chosen.layer ? gui.colours().text : gui.colours().dim;
    if (!layout.titles) {
      const std::string name = "L" + std::to_string(layer);
      list.AddText({bracket.x, std::round(bracket.y + (layout.height - text) / 2)}, colour, name.c_str());
      continue;
    }
    const float line = bracket.x, tick = 2 * gui.unit;
    for (const float y : {bracket.y, bracket.bottom()}) list.AddLine({line, y}, {line + tick, y}, colour, gui.unit);
    list.AddLine({line, bracket.y}, {line, bracket.bottom()}, colour, gui.unit);
  }
}

/// The numbers of the heads above a table's columns.
void column_numbers(Gui& gui, const Atlas& atlas) {
  const AtlasLayout& layout = atlas.layout;
  if (layout.titles || layout.content.groups < 2) return;
  const float room = ImGui::CalcTextSize("H00").x + 4 * gui.unit;
  const auto step = std::max<Index>(1, static_cast<Index>(std::ceil(room / layout.pitch_x)));
  for (Index head = 0; head < layout.content.heads; head += step) {
    const std::string name = "H" + std::to_string(head);
    const Box box = atlas.at(layout.map_of(0, head));
    ImGui::GetWindowDrawList()->AddText(
        {std::round(box.x + (box.w - ImGui::CalcTextSize(name.c_str()).x) / 2), atlas.origin.y}, gui.colours().dim,
        name.c_str());
  }
}

/// The maps, as far as they are not scrolled away.
void maps_in_sight(Gui& gui, const Atlas& atlas) {
  const ImVec2 window = ImGui::GetWindowPos();
  const AtlasContent& shown = atlas.layout.content;
  for (Index group = 0; group < shown.groups; ++group)
    for (Index head = 0; head < shown.heads; ++head) {
      const Box box = atlas.at(atlas.layout.map_of(group, head));
      if (box.bottom() < window.y || box.y > window.y + ImGui::GetWindowHeight()) continue;
      draw_atlas_map(gui, atlas, atlas.heads[static_cast<std::size_t>(group * shown.heads + head)], box,
                     atlas.title_of(group, head));
    }
}

/// Arranges the heads of the atlas in a room: which, in what order, and where they stand from the room's corner.
struct Arrangement {
  Gui& gui;
  const AppState& state = gui.state;
  ImVec2 room;
  MapContent content = whole_content(state, {.stack = state.view.chosen.stack});
  AtlasSizes sizes = {};
  Atlas atlas = {};
  std::vector<HeadRef> telling = {};  // where some are shown: those to choose from

  float width(const std::string& text) const { return shown_width(gui, text); }
  /// Measures texts, and cuts the words of the rows, of those with numbers none: one word alone is read there.
  void measure() {
    const float unit = gui.unit, narrow = gui.least_atlas > 0 ? std::min(room.x, gui.least_atlas) : room.x;
    const float share = std::clamp(kLabelShare * narrow, kFreeLabel * unit, kMostLabel * unit);
    const float most = atlas.flows ? kMostLabel * unit : std::round(share);
    atlas.labels = axis_labels(gui, content);
    AxisText& rows = atlas.labels.queries;
    for (std::size_t i = 0; !rows.numbers && i < rows.words.size(); ++i)
      rows.words.set(i, cut_to(rows.words[i], most, [&](const std::string& text) { return width(text); }));
    sizes = {.text = ImGui::GetFontSize(),
             .labels = std::min(rows.metrics.widest, most),
             .layers = width(state.trace->num_layers(content.head.stack) > 10 ? "L00" : "L0"),
             .most = 320 * unit,
             .unit = unit,
             .least_width = narrow - 2 * kEdge * unit};
  }
  AtlasLayout layout_of(Index groups, std::size_t heads) const {
    const AtlasContent shown{groups, static_cast<Index>(heads), content.region.num_queries, content.region.num_keys};
    return atlas_layout(room.x - 2 * kEdge * gui.unit, room.y - 2 * kEdge * gui.unit, shown, sizes);
  }
  /// The lines of a head's name; of some heads it begins beside the number.
  std::vector<std::string> lines_of(const HeadRef& head, const AtlasLayout& layout, int lines) const {
    const float taken = atlas.flows ? width(head_label(head)) + kBesideNumber * gui.unit : 0;
    return name_in_lines(
        atlas.names.at(head), layout.title_width, static_cast<std::size_t>(lines),
        [&](const std::string& text) { return width(text); }, taken);
  }
  void name_heads(const std::vector<HeadRef>& heads) {
    for (const HeadRef& head : heads)
      if (!atlas.names.contains(head)) atlas.names.emplace(head, name_of_head(gui, head));
  }
  /// The heads where so many are shown.
  std::vector<HeadRef> some(std::size_t count) const { return first_with(telling, state.view.chosen, count); }
  /// The layout of so many heads, with titles of one line where all names have room in it.
  AtlasLayout layout_of_some(std::size_t count) {
    sizes.title_lines = 1;
    const AtlasLayout layout = layout_of(1, count);
    const std::vector<HeadRef> heads = some(count);
    const bool fit = std::ranges::all_of(heads, [&](const HeadRef& head) {
      const auto whole = lines_of(head, layout, kTitleLines);
      return whole.size() == 1 && whole == lines_of(head, layout, 1);
    });
    if (fit) return layout;
    sizes.title_lines = kTitleLines;
    return layout_of(1, count);
  }
  /// Of the heads that show most, as many as give the largest area of maps, none with a side below kLeastShownMap where
  /// there is room for that. They fill their rows.
  void choose_some() {
    telling = telling_heads(state);
    name_heads(some(kMostShown));
    const std::size_t most = atlas.names.size(), fewest = std::min(kLeastShownHeads, most);
    std::size_t best = fewest;
    float area = 0;
    for (std::size_t count = fewest; count <= most; ++count) {
      const AtlasLayout layout = layout_of_some(count);
      const float side = std::max(layout.width, layout.height), all = side * side * static_cast<float>(count);
      const bool fills = static_cast<Index>(count) % layout.columns == 0 || count == most;
      if (fills && side >= kLeastShownMap * gui.unit && all >= area) best = count, area = all;
    }
    atlas.layout = layout_of_some(best);
    atlas.heads = gui.shown_heads = some(best);
  }
  /// All heads: where they are not ordered by layer they are laid out as those of a single layer.
  void choose_all() {
    const Stack stack = content.head.stack;
    atlas.heads = atlas.by_layer ? layers_of(state) : shown_order(state);
    const bool by_groups = atlas.heads.empty();
    atlas.own_order = !atlas.by_layer && !by_groups;
    if (by_groups) atlas.heads = heads_of(*state.trace, stack);
    const Index groups = by_groups ? state.trace->num_layers(stack) : 1;
    const std::size_t heads = atlas.heads.size() / static_cast<std::size_t>(groups);
    atlas.layout = layout_of(groups, heads);
    if (!atlas.layout.titles || atlas.by_layer) return;  // a table has no names
    name_heads(atlas.heads);
    for (const auto& [head, name] : atlas.names) sizes.name = std::max(sizes.name, width(brief_name(name.brief)));
    atlas.layout = layout_of(groups, heads);
  }
  Atlas arranged() {
    atlas.by_layer = shown_kind(state, content.head.stack) == MapKind::rollout;
    atlas.own_order = atlas.flows = shows_some_heads(state);
    measure();
    if (atlas.flows) choose_some();
    else choose_all();
    for (const HeadRef& head : atlas.heads) atlas.most = std::max(atlas.most, order_value(state, head).value_or(0));
    for (const auto& [head, name] : atlas.names)
      if (atlas.name_rows() > 0) atlas.name_lines[head] = lines_of(head, atlas.layout, atlas.name_rows());
    return std::move(atlas);
  }
};

void draw_maps(Gui& gui, Atlas& atlas) {
  const FontScope small(gui, TextSize::small);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float edge = kEdge * gui.unit;
  atlas.origin = {corner.x + edge, corner.y + edge};
  layer_names(gui, atlas);
  column_numbers(gui, atlas);
  row_words_beside(gui, atlas, whole_content(gui.state, {.stack = gui.state.view.chosen.stack}));
  maps_in_sight(gui, atlas);
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy({1, atlas.layout.content_height});
}

}  // namespace

std::string order_value_text(const AppState& state, const HeadRef& head) {
  const auto value = order_value(state, head);
  return value ? "  " + order_number_text(*value) : std::string();
}

float head_opacity(const Gui& gui, const HeadRef& head) {
  const float fresh = answer_opacity(gui);
  if (is_off(gui.state.document.edits, head)) return fresh * 0.35f;
  return is_passed_over(gui.state, head) ? fresh * 0.2f : fresh;
}

float atlas_room(const Gui& gui, float width) { return width - 2 * kSide * gui.unit; }

void atlas_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (state.view.view != View::heads && state_card(gui)) return;  // in View::heads the stage has the card
  if (answer_state(state).kind != AnswerState::Kind::shown) return;
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const float side = kSide * gui.unit, header = kHeader * gui.unit;
  const ImVec2 room{atlas_room(gui, size.x), size.y - header - 4 * gui.unit};
  const bool relations = shown_grid(state) == GridShow::relations;
  Atlas atlas;
  if (!relations) {
    const FontScope small(gui, TextSize::small);
    atlas = Arrangement{.gui = gui, .room = room}.arranged();
  }
  atlas_header(gui, {at.x + side, at.y, size.x - 2 * side, header});
  const float done = gui.work.computing ? gui.work.computing_progress
                     : gui.work.reading ? gui.work.reading_progress
                                        : 0;
  if (done > 0 && done < 1)
    ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + size.x * done, at.y + 2 * gui.unit}, gui.colours().action);
  ImGui::SetCursorScreenPos({at.x + side, at.y + header});
  ImGui::BeginChild("grid", room, false, relations ? ImGuiWindowFlags_HorizontalScrollbar : ImGuiWindowFlags_None);
  if (relations) relation_table(gui);
  else draw_maps(gui, atlas);
  ImGui::EndChild();
}

}  // namespace headlight
