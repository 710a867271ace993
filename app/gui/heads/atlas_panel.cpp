#include <algorithm>
#include <cmath>
#include <map>

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
#include "words/chosen_head_words.h"
#include "words/relation_words.h"

namespace headlight {
namespace {

// Pixels of the design: the words beside the maps may always be as wide as the first, never wider than the second, and
// between them than this share of the atlas.
constexpr float kFreeLabel = 44, kMostLabel = 88, kLabelShare = 0.0715f;
// The least side of a map of some heads, where the window has room for it.
constexpr float kLeastShownMap = 110;
constexpr int kTitleLines = 2;            // above each of these at most
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

/// The layers at the left: with a bracket around their maps, or as the names of a table's rows.
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
    const std::string name = layer_title(gui.state.settings.language, layer);
    const float line = bracket.x + text, width = ImGui::CalcTextSize(name.c_str()).x;
    const float tick = 2 * gui.unit;
    for (const float y : {bracket.y, bracket.bottom()}) list.AddLine({line, y}, {line + tick, y}, colour, gui.unit);
    list.AddLine({line, bracket.y}, {line, bracket.bottom()}, colour, gui.unit);
    if (width < bracket.h)
      draw_rotated(list, bracket.x + text / 2, std::round(bracket.y + (bracket.h + width) / 2), colour, name);
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

/// In how many lines the names of these heads stand, and how many heads there are.
struct SomeHeads {
  std::size_t count = 0;
  int title_lines = 1;
};

/// Of the heads that show most: as many as make the largest maps together, none of a side below `least` where there is
/// room for that. They fill their rows. `layout_of` takes a SomeHeads; `fits` says whether names have room in it.
template <class LayoutOf, class Fits>
SomeHeads count_shown(const AppState& state, float least, const LayoutOf& layout_of, const Fits& fits) {
  const std::size_t most = telling_heads(state, kMostShown).size(), fewest = std::min(kLeastShownHeads, most);
  SomeHeads best{fewest, kTitleLines};
  float area = 0;
  for (SomeHeads some{fewest, 1}; some.count <= most; ++some.count) {
    some.title_lines = 1;
    AtlasLayout layout = layout_of(some);
    if (!fits(telling_heads(state, some.count), layout)) some.title_lines = kTitleLines, layout = layout_of(some);
    const float side = std::max(layout.width, layout.height), all = side * side * static_cast<float>(some.count);
    const bool fills = static_cast<Index>(some.count) % layout.columns == 0 || some.count == most;
    if ((some.count == fewest) || (fills && side >= least && all >= area)) best = some, area = side >= least ? all : 0;
  }
  return best;
}

/// The heads of the atlas in this room, their names, and where they stand from the room's corner.
Atlas arranged(Gui& gui, ImVec2 room) {
  const AppState& state = gui.state;
  const FontScope small(gui, TextSize::small);
  const Trace& trace = *state.trace;
  const Stack stack = state.view.chosen.stack;
  const MapContent content = whole_content(state, {.stack = stack});
  Atlas atlas;
  atlas.labels = axis_labels(gui, content);
  atlas.by_layer = shown_kind(state, stack) == MapKind::rollout;
  atlas.flows = shows_some_heads(state);
  const float narrow = gui.least_atlas > 0 ? std::min(room.x, gui.least_atlas) : room.x;
  const float most = atlas.flows
                         ? kMostLabel * gui.unit
                         : std::round(std::clamp(kLabelShare * narrow, kFreeLabel * gui.unit, kMostLabel * gui.unit));
  const auto width = [&](const std::string& part) { return ImGui::CalcTextSize(gui.fonts.shown(part).c_str()).x; };
  AxisWords& rows = atlas.labels.queries.words;
  // Of rows with numbers one word alone is read.
  for (std::size_t i = 0; !atlas.labels.queries.numbers && i < rows.size(); ++i)
    rows.set(i, cut_to(rows[i], most, width));
  const float edge = 2 * gui.unit;  // room for the outline of the chosen one
  AtlasSizes sizes{.text = ImGui::GetFontSize(),
                   .labels = std::min(atlas.labels.queries.metrics.widest, most),
                   .layers = ImGui::CalcTextSize(trace.num_layers(stack) > 10 ? "L00" : "L0").x,
                   .most = 320 * gui.unit,
                   .unit = gui.unit,
                   .least_width = narrow - 2 * edge};
  // In an order of their own the heads follow each other like those of a single layer.
  const auto layout_of = [&](Index groups, Index heads) {
    const AtlasContent shown{
        .groups = groups, .heads = heads, .rows = content.region.num_queries, .keys = content.region.num_keys};
    return atlas_layout(room.x - 2 * edge, room.y - 2 * edge, shown, sizes);
  };
  // The lines of a name that begins beside its head's number.
  const auto flowing = [&](const HeadRef& head, const AtlasLayout& layout, std::size_t lines) {
    return name_in_lines(atlas.names.at(head), layout.title_width, lines, width,
                         width(head_label(head)) + kBesideNumber * gui.unit);
  };
  if (atlas.flows) {
    for (const HeadRef& head : telling_heads(state, kMostShown)) atlas.names.emplace(head, name_of_head(gui, head));
    const auto of_some = [&](const SomeHeads& some) {
      sizes.title_lines = some.title_lines;
      return layout_of(1, static_cast<Index>(some.count));
    };
    const auto fits = [&](const std::vector<HeadRef>& heads, const AtlasLayout& layout) {
      return std::all_of(heads.begin(), heads.end(), [&](const HeadRef& head) {
        const auto one = flowing(head, layout, 1), all = flowing(head, layout, kTitleLines);
        return all.size() == 1 && one == all;
      });
    };
    const SomeHeads some = count_shown(state, kLeastShownMap * gui.unit, of_some, fits);
    sizes.title_lines = some.title_lines;
    atlas.heads = gui.shown_heads = telling_heads(state, some.count);
  } else {
    atlas.heads = atlas.by_layer ? layers_of(state) : shown_order(state);
  }
  atlas.own_order = !atlas.by_layer && !atlas.heads.empty();
  if (atlas.own_order)
    for (const HeadRef& head : atlas.heads) atlas.most = std::max(atlas.most, order_value(state, head).value_or(0));
  const bool by_groups = atlas.heads.empty();
  if (by_groups) atlas.heads = heads_of(trace, stack);
  const auto layout = [&] {
    return by_groups ? layout_of(trace.num_layers(stack), trace.num_heads(stack))
                     : layout_of(1, static_cast<Index>(atlas.heads.size()));
  };
  atlas.layout = layout();
  if (atlas.layout.titles && !atlas.by_layer) {  // a table has no names
    for (const HeadRef& head : atlas.heads) {
      if (!atlas.names.contains(head)) atlas.names.emplace(head, name_of_head(gui, head));
      const HeadName& name = atlas.names.at(head);
      sizes.name = std::max(sizes.name, ImGui::CalcTextSize(brief_name(name.words).c_str()).x);
    }
    atlas.layout = layout();
  }
  const auto lines = static_cast<std::size_t>(atlas.layout.name_lines);
  for (const auto& [head, name] : atlas.names) {
    if (atlas.flows) atlas.name_lines[head] = flowing(head, atlas.layout, lines + 1);
    else if (lines > 0) atlas.name_lines[head] = name_in_lines(name, atlas.layout.title_width, lines, width);
  }
  return atlas;
}

void draw_maps(Gui& gui, Atlas& atlas) {
  const FontScope small(gui, TextSize::small);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float edge = 2 * gui.unit;
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
  if (!relations) atlas = arranged(gui, room);
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
