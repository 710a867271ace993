#include <cmath>

#include "figure/drawing/diagram_layout.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/texture_ids.h"
#include "gui/inside/inside.h"
#include "gui/inside/matrix_map.h"
#include "gui/inside/matrix_marks.h"
#include "gui/inside/weight_lines.h"
#include "words/answer_words.h"
#include "words/code_words.h"
#include "words/explain_words.h"
#include "words/inside_words.h"

namespace headlight {
namespace {

/// Names of the steps' pictures come after those of the nodes.
constexpr std::size_t kFirstStep = 512;

InsideType inside_type(const Gui& gui) {
  const float title = gui.fonts.pixels(TextSize::body), small = gui.fonts.pixels(TextSize::small);
  return {.title = title / kLineOfEm,
          .small = small / kLineOfEm,
          .title_line = title,
          .small_line = small,
          .unit = gui.unit};
}

/// Draws the contents of a box; its title in the accent's colour where the box is chosen.
void draw_parts(Gui& gui, ImDrawList& list, InsideParts parts, bool chosen, const Picture& picture,
                std::uint64_t version, bool is_signed) {
  for (Text& text : parts.texts) text.text = gui.fonts.shown(text.text);
  if (chosen) parts.texts.front().colour = ink_colours(gui.state.settings.theme).accent;
  draw_texts(gui, list, parts.texts);
  if (parts.picture) draw_picture(gui, list, picture, version, *parts.picture, is_signed);
}

void draw_edge(const Gui& gui, ImDrawList& list, const std::vector<Point>& line, ImVec2 origin, const Edge& edge) {
  const ImU32 colour = edge.residual ? gui.colours().faint : gui.colours().dim;
  std::vector<ImVec2> points;
  for (const Point& point : line)
    points.push_back({std::round(origin.x + point.x) + 0.5f, std::round(origin.y + point.y) + 0.5f});
  list.AddPolyline(points.data(), static_cast<int>(points.size()), colour, 0, gui.unit);
  const ImVec2 end = points.back(), before = points[points.size() - 2];
  const float size = 4 * gui.unit;
  if (std::abs(end.x - before.x) < 1) {  // downwards
    list.AddTriangleFilled({end.x - size * 0.8f, end.y - size}, {end.x + size * 0.8f, end.y - size}, end, colour);
  } else {
    const float back = end.x > before.x ? -size : size;
    list.AddTriangleFilled({end.x + back, end.y - size * 0.8f}, {end.x + back, end.y + size * 0.8f}, end, colour);
  }
}

void draw_node(Gui& gui, const Inside& inside, std::size_t index, const Box& box) {
  const Node& node = inside.diagram.nodes[index];
  const Picture& picture = inside.pictures[index];
  const Palette& colours = gui.colours();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool chosen = gui.state.view.look.matrix == node.shows;
  ImGui::SetCursorScreenPos(top_left(box));
  ImGui::PushID(static_cast<int>(index));
  if (ImGui::InvisibleButton("node", {box.w, box.h})) gui.say(LookAt{{node.shows, std::nullopt}});
  const bool hovered = ImGui::IsItemHovered();
  ImGui::PopID();
  gui.name_box("node " + node.id, box, BoxKind::button);
  if (hovered) {
    ImGui::BeginTooltip();
    ImGui::TextUnformatted(words_of(gui.state.settings.language, node.shows.quantity));
    ImGui::TextUnformatted(
        gui.fonts.shown(formula_in(gui.state.settings.language, *inside.question.trace, node.shows)).c_str());
    ImGui::EndTooltip();
  }
  list.AddRectFilled(top_left(box), bottom_right(box), colours.panel, 4 * gui.unit);
  list.AddRect(top_left(box), bottom_right(box), chosen || hovered ? colours.accent : colours.line, 4 * gui.unit, 0,
               chosen ? 2 * gui.unit : gui.unit);
  const InsideParts parts = node_parts(gui.state.settings.language, *inside.question.trace, node, picture, box,
                                       inside_type(gui), ink_colours(gui.state.settings.theme), window_measure(gui));
  draw_parts(gui, list, parts, chosen, picture, inside_picture_version(gui.state, index), is_signed(node.shows));
  if (parts.picture) mark_moved(gui, list, picture, *parts.picture, false);
}

void diagram(Gui& gui) {
  const AppState& state = gui.state;
  const Inside& inside = *state.inside;
  const FontScope small(gui, TextSize::small);
  const DiagramMeasures measures{.node_height = ImGui::GetFontSize() + 32 * gui.unit,
                                 .pattern_height = ImGui::GetFontSize() + 104 * gui.unit,
                                 .gap = 14 * gui.unit,
                                 .side_gap = 8 * gui.unit,
                                 .lane = 9 * gui.unit,
                                 .least_node = 44 * gui.unit};
  ImGui::BeginChild("way", {0, 0}, false, ImGuiWindowFlags_HorizontalScrollbar);
  const DiagramLayout layout =
      layout_diagram(inside.diagram, ImGui::GetContentRegionAvail().x - 4 * gui.unit, measures);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const ImVec2 origin{corner.x + 2 * gui.unit, corner.y + 2 * gui.unit};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t e = 0; e < layout.edges.size(); ++e)
    draw_edge(gui, list, layout.edges[e], origin, inside.diagram.edges[e]);
  const ImVec2 window = ImGui::GetWindowPos();
  for (std::size_t n = 0; n < layout.nodes.size(); ++n) {
    const Box& node = layout.nodes[n];
    const Box box{std::round(origin.x + node.x), std::round(origin.y + node.y), node.w, node.h};
    if (box.bottom() < window.y || box.y > window.y + ImGui::GetWindowHeight()) continue;
    draw_node(gui, inside, n, box);
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy({layout.width, layout.height + 8 * gui.unit});
  ImGui::EndChild();
}

void draw_step(Gui& gui, const Inside& inside, std::size_t index) {
  const Step& step = inside.steps[index];
  const Picture& picture = inside.step_pictures[index];
  const Palette& colours = gui.colours();
  const InsideType type = inside_type(gui);
  const float width = ImGui::GetContentRegionAvail().x - 2 * gui.unit, height = step_height(step, picture, type);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushID(static_cast<int>(index));
  if (ImGui::InvisibleButton("step", {width, height})) gui.say(LookAt{{step.id, MatrixCell{step.row, step.col}}});
  ImGui::PopID();
  gui.name_item("step " + step.name);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool chosen = gui.state.view.look.matrix == step.id;
  if (ImGui::IsItemHovered() || chosen)
    list.AddRect(at, {at.x + width, at.y + height}, chosen ? colours.accent : colours.line, 4 * gui.unit, 0, gui.unit);
  if (!ImGui::IsItemVisible()) return;
  draw_parts(gui, list,
             step_parts(gui.state.settings.language, *inside.question.trace, step, picture, index,
                        {at.x, at.y, width, height}, type, ink_colours(gui.state.settings.theme), window_measure(gui)),
             chosen, picture, inside_picture_version(gui.state, kFirstStep + index), is_signed(step.id));
}

void steps(Gui& gui) {
  const Inside& inside = *gui.state.inside;
  if (inside.steps.empty() || !inside.question.cell) {
    dim_text(gui, gui.word(kInsideWords.pin_for_steps));
    return;
  }
  ImGui::BeginChild("steps");
  weight_lines(gui, inside, draw_step);
  ImGui::EndChild();
}

/// How far the two words are from each other, here and elsewhere.
void path_line(Gui& gui, const InsideQuestion& question) {
  const std::string path = path_in_words(gui.state.settings.language, *question.trace, question.head, *question.cell);
  if (path.empty()) return;
  const FontScope small(gui, TextSize::small);
  cut_text(gui, path, gui.colours().dim, ImGui::GetContentRegionAvail().x);
  gui.name_item("path", BoxKind::label);
  explain_item(gui, kInsideWords.tip_path);
}

}  // namespace

void way_panel(Gui& gui) {
  const AppState& state = gui.state;
  if (state_card(gui)) return;
  problem_line(gui);
  if (flat_button(gui, "show steps", gui.word(kInsideWords.steps_of_weight), state.view.steps))
    gui.say(ShowSteps{true});
  explain_item(gui, kInsideWords.tip_steps);
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "show way", gui.word(kInsideWords.way_of_data), !state.view.steps)) gui.say(ShowSteps{false});
  explain_item(gui, kInsideWords.tip_way);
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "show program", gui.word(kCodeWords.view_code))) gui.say(ShowView{View::code});
  explain_item(gui, kCodeWords.tip_view_code);
  if (!state.inside) {
    dim_text(gui, gui.word(kAnswerWords.computing));
    return;
  }
  const auto& question = state.inside->question;
  if (state.view.steps && question.cell && question.trace == state.trace) {
    ImGui::TextUnformatted(cell_in_words(gui, question.head, *question.cell).c_str());
    path_line(gui, question);
  }
  state.view.steps ? steps(gui) : diagram(gui);
}

}  // namespace headlight
