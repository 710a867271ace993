#include <algorithm>
#include <cmath>
#include <utility>

#include "figure/labels.h"
#include "gui/frame/draw.h"
#include "gui/frame/map_view.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/relation_labels.h"
#include "gui/frame/scene.h"
#include "model/head_text.h"
#include "session/answer_state.h"
#include "session/head_grid.h"
#include "session/shown.h"
#include "views/heads/panel/derived_maps.h"
#include "views/heads/panel/grid_parts.h"
#include "views/heads/panel/heads.h"
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

/// The names of layers and heads, and the words of the rows.
void names_around(Gui& gui, const Atlas& atlas) {
  const AppState& state = gui.state;
  const MapContent content = whole_content(state, {.stack = state.view.chosen.stack});
  const auto lit = state.view.hovered ? state.view.hovered : state.view.pinned;
  const TextWidth measure = window_measure(gui);
  const MapStyle style = map_style(gui, measure);
  const Point origin{atlas.origin.x, atlas.origin.y};
  const auto dim = [&](Index) { return style.ink.dim; };
  Drawing scene;
  add_layer_names(scene, atlas.layout, origin, {}, state.view.chosen.layer, gui.unit, style);
  add_row_words(scene, atlas.layout, origin, atlas.labels.queries, style, dim,
                lit ? map_row(content, lit->query) : std::nullopt);
  paint_scene(gui, scene, {});
}

/// A name that says what the head does; that it rests the strip beside its map shows.
HeadName said_of(HeadName name) {
  const bool says = name.named || (name.measure && name.measure != Measure::special);
  if (!says) name.words = name.brief = "";
  return name;
}

/// The maps, as far as they are not scrolled away.
void maps_in_sight(Gui& gui, const Atlas& atlas) {
  const ImVec2 window = ImGui::GetWindowPos();
  const HeadsContent& shown = atlas.layout.content;
  for (Index group = 0; group < shown.groups; ++group)
    for (Index head = 0; head < shown.heads; ++head) {
      const Box box = atlas.at(atlas.layout.map_of(group, head));
      if (box.bottom() < window.y || box.y > window.y + ImGui::GetWindowHeight()) continue;
      const int lines = longest_name(atlas.layout, atlas.titles, group, head);
      draw_atlas_map(gui, atlas, static_cast<std::size_t>(group * shown.heads + head), box,
                     atlas.at(atlas.layout.title_of(group, head, lines)));
    }
}

/// Arranges the heads of the atlas in a room: which, in what order, and where they stand from the room's corner.
struct Arrangement {
  Gui& gui;
  const AppState& state = gui.state;
  ImVec2 room;
  MapContent content = whole_content(state, {.stack = state.view.chosen.stack});
  HeadsSizes sizes = {};
  Atlas atlas = {};
  bool some_heads = shows_some_heads(state);
  std::vector<HeadRef> telling = {};  // where some are shown: those to choose from

  float width(const std::string& text) const { return shown_width(gui, text); }
  /// Measures texts, and cuts the words of the rows, of those with numbers none: one word alone is read there.
  void measure() {
    const float unit = gui.unit, narrow = room.x;
    const float share = std::clamp(kLabelShare * narrow, kFreeLabel * unit, kMostLabel * unit);
    const float most = some_heads ? kMostLabel * unit : std::round(share);
    atlas.labels = axis_labels(gui, content);
    AxisText& rows = atlas.labels.queries;
    for (std::size_t i = 0; !rows.numbers && i < rows.words.size(); ++i)
      rows.words.set(i, cut_to(rows.words[i], most, [&](const std::string& text) { return width(text); }));
    sizes = {.text = ImGui::GetFontSize(),
             .labels = std::min(rows.metrics.widest, most),
             .most = 320 * unit,
             .unit = unit,
             .least_width = narrow - 2 * kEdge * unit};
  }
  HeadsLayout layout_of(Index groups, std::size_t heads) {
    sizes.layers = groups > 1 ? width(groups > 10 ? "L00" : "L0") : 0;
    const HeadsContent shown{groups, static_cast<Index>(heads), content.region.num_queries, content.region.num_keys};
    return heads_layout(room.x - 2 * kEdge * gui.unit, room.y - 2 * kEdge * gui.unit, shown, sizes);
  }
  HeadTitle title_of(const HeadRef& head, const HeadsLayout& layout) const {
    const std::string value = order_value_text(state, head);
    return head_title(head, atlas.names.at(head), value, layout, gui.unit,
                      [&](const std::string& text) { return width(text); });
  }
  void name_heads(const std::vector<HeadRef>& heads) {
    for (const HeadRef& head : heads)
      if (!atlas.names.contains(head)) atlas.names.emplace(head, said_of(name_of_head(gui, head)));
  }
  /// The heads where so many are shown.
  std::vector<HeadRef> some(std::size_t count) const { return first_with(telling, state.view.chosen, count); }
  /// The layout of so many heads, with titles of one line where all names have room in it.
  HeadsLayout layout_of_some(std::size_t count) {
    sizes.title_lines = 1;
    const HeadsLayout layout = layout_of(1, count);
    const std::vector<HeadRef> heads = some(count);
    HeadsLayout wide = layout;  // the same columns, and room for two lines
    wide.name_lines = kTitleLines - 1;
    const bool fit = std::ranges::all_of(heads, [&](const HeadRef& head) {
      const HeadTitle whole = title_of(head, wide);
      return whole.below.empty() && whole.beside == title_of(head, layout).beside;
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
      const HeadsLayout layout = layout_of_some(count);
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
    if (!atlas.layout.titles || atlas.by_layer) return;  // a table has no names, a layer has none
    name_heads(atlas.heads);
    for (const auto& [head, name] : atlas.names) sizes.name = std::max(sizes.name, width(brief_name(name.brief)));
    atlas.layout = layout_of(groups, heads);
  }
  Atlas arranged() {
    atlas.by_layer = is_of_layers(shown_kind(state, content.head.stack));
    atlas.own_order = some_heads;
    measure();
    if (some_heads) choose_some();
    else choose_all();
    for (const HeadRef& head : atlas.heads) atlas.most = std::max(atlas.most, order_value(state, head).value_or(0));
    for (const HeadRef& head : atlas.heads)
      if (atlas.by_layer) atlas.titles.push_back({.head = layer_title(state.settings.language, head.layer)});
      else if (atlas.layout.titles) atlas.titles.push_back(title_of(head, atlas.layout));
    return std::move(atlas);
  }
};

void draw_maps(Gui& gui, Atlas& atlas) {
  const FontScope small(gui, TextSize::small);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float edge = kEdge * gui.unit;
  atlas.origin = {corner.x + edge, corner.y + edge};
  names_around(gui, atlas);
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

Box maps_of_atlas(const Gui& gui, const Box& atlas) {
  return {atlas.x, atlas.y + kHeader * gui.unit, atlas.w, atlas.h - kHeader * gui.unit};
}

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
