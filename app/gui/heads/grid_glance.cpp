#include <algorithm>
#include <cmath>

#include "figure/glance_layout.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/map_view.h"
#include "gui/heads/derived_maps.h"
#include "gui/heads/grid_parts.h"
#include "model/head_text.h"
#include "session/head_grid.h"
#include "session/shown.h"
#include "words/grid_words.h"

namespace headlight {
namespace {

/// The numbers of the columns or the rows, as many as stand apart.
void numbers(Gui& gui, const GlanceLayout& layout, ImVec2 origin, Index count, bool of_columns) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float pitch = layout.cell + layout.gap;
  const float room = of_columns ? ImGui::CalcTextSize(std::to_string(count).c_str()).x + 4 * gui.unit
                                : ImGui::GetFontSize() * kLabelPitch;
  const auto step = std::max<Index>(1, static_cast<Index>(std::ceil(room / pitch)));
  for (Index i = 0; i < count; i += step) {
    const std::string text = std::to_string(i);
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    const Box square = of_columns ? layout.place(0, i) : layout.place(i, 0);
    const ImVec2 at = of_columns ? ImVec2{square.x + (square.w - size.x) / 2, layout.first.y - size.y - 2 * gui.unit}
                                 : ImVec2{layout.first.x - size.x - 6 * gui.unit, square.y + (square.h - size.y) / 2};
    list.AddText({std::round(origin.x + at.x), std::round(origin.y + at.y)}, gui.colours().dim, text.c_str());
  }
}

/// The map under the pointer, large enough to be seen, with its title.
void enlarged(Gui& gui, const HeadRef& head, const MapContent& content) {
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(map_title(gui, head).c_str());
  if (content.kind != MapKind::rollout) {  // which is no head's
    ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().accent);
    const std::string measured = measured_text(gui.state.settings.language, gui.state.document, head);
    if (!measured.empty()) ImGui::TextUnformatted(gui.fonts.shown(measured).c_str());
    ImGui::PopStyleColor();
    if (const std::string value = order_value_text(gui.state, head); !value.empty()) dim_text(gui, value);
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float side = 240 * gui.unit;
  const Box map = within_square({at.x, at.y, side, side}, content.weights->rows(), content.weights->cols());
  gui.maps.draw(*ImGui::GetWindowDrawList(), *content.weights, content.version, top_left(map), bottom_right(map),
                map_scale(gui.state, content), head_opacity(gui.state, head));
  ImGui::Dummy({side, side});
  ImGui::EndTooltip();
}

/// One small map: a frame where it is chosen or pointed at.
void small_map(Gui& gui, const HeadRef& head, const Box& square, bool hovered) {
  const AppState& state = gui.state;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const MapContent content = whole_content(state, head);
  const Box map = within_square(square, content.weights->rows(), content.weights->cols());
  gui.maps.draw(list, *content.weights, content.version, top_left(map), bottom_right(map), map_scale(state, content),
                head_opacity(state, head));
  const bool chosen = head == state.view.chosen;
  // Maps of light colours on a light ground need an edge; where they are tiny it would be all there is.
  if (square.w >= 24 * gui.unit || chosen || hovered)
    list.AddRect({map.x - 1, map.y - 1}, {map.right() + 1, map.bottom() + 1},
                 chosen || hovered ? gui.colours().accent : gui.colours().line, 0, 0, chosen ? 2 * gui.unit : 1);
  gui.name_box("glance " + head_text({head.layer, head.head}), map);
  if (hovered) enlarged(gui, head, content);
}

}  // namespace

void glance_grid(Gui& gui) {
  const AppState& state = gui.state;
  const FontScope small(gui, TextSize::small);
  const Trace& trace = *state.trace;
  const Stack stack = state.view.chosen.stack;
  const bool by_layer = shown_kind(state, stack) == MapKind::rollout;  // one map a layer
  const std::vector<HeadRef> order = by_layer ? std::vector<HeadRef>{} : shown_order(state);
  const Index rows = trace.num_layers(stack), columns = by_layer ? 1 : trace.num_heads(stack);
  const ImVec2 room = ImGui::GetContentRegionAvail(), origin = ImGui::GetCursorScreenPos();
  const float text = ImGui::GetFontSize();
  const float widest = ImGui::CalcTextSize(std::to_string(rows).c_str()).x;
  // In an order of their own the heads are no table: they follow each other like words.
  const Point margin =
      order.empty() ? Point{widest + 10 * gui.unit, text + 4 * gui.unit} : Point{2 * gui.unit, 2 * gui.unit};
  const GlanceLayout layout =
      layout_glance(room.x - 4 * gui.unit, room.y - 4 * gui.unit, rows, columns, margin, 8 * gui.unit, 200 * gui.unit);
  if (order.empty()) {
    if (!by_layer) numbers(gui, layout, origin, columns, true);
    numbers(gui, layout, origin, rows, false);
  }
  const float width = static_cast<float>(columns) * (layout.cell + layout.gap);
  const float height = static_cast<float>(rows) * (layout.cell + layout.gap);
  ImGui::SetCursorScreenPos({origin.x + layout.first.x, origin.y + layout.first.y});
  const bool pressed = ImGui::InvisibleButton("glance", {width, height});
  const bool over = ImGui::IsItemHovered();
  const ImVec2 mouse = ImGui::GetIO().MousePos, window = ImGui::GetWindowPos();
  for (Index row = 0; row < rows; ++row) {
    Box square = layout.place(row, 0);
    if (origin.y + square.bottom() < window.y || origin.y + square.y > window.y + ImGui::GetWindowHeight()) continue;
    for (Index column = 0; column < columns; ++column) {
      const auto place = static_cast<std::size_t>(row * columns + column);
      const HeadRef head = by_layer        ? HeadRef{row, state.view.chosen.head, stack}
                           : order.empty() ? HeadRef{row, column, stack}
                                           : order[place];
      square = layout.place(row, column);
      square.x += origin.x, square.y += origin.y;
      const bool hovered = over && square.contains(mouse.x, mouse.y);
      small_map(gui, head, square, hovered);
      if (hovered) gui.say(Hover{head, std::nullopt});
      if (hovered && pressed) gui.say(ChooseHead{head});
    }
  }
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({1, layout.content_height});
}

}  // namespace headlight
