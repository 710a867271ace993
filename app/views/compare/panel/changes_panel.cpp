// What changed between two answers, over the words of both.
#include "gui/actions/look.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/frame/scene.h"
#include "session/shown.h"
#include "views/compare/changes_scene.h"
#include "views/compare/panel/compare.h"
#include "views/compare/panel/joint_map.h"

namespace headlight {
namespace {

/// The cell that is pointed at: of an arc, of a column in the row that is shown, or the largest change of a word.
std::optional<CellRef> cell_at(const SentenceContent& content, const PointedSentence& pointed) {
  if (pointed.arc) return pointed.arc->cell;
  if (pointed.bar) return CellRef{content.query, *pointed.bar};
  if (!pointed.word) return std::nullopt;
  auto arc = content.heaviest_of(*pointed.word);
  const auto& pinned = content.pinned;
  if (pinned && pinned->query == *pointed.word && (!arc || arc->weight <= pinned->weight)) arc = pinned;
  return arc ? arc->cell : CellRef{*pointed.word, content.one ? *pointed.word : 0};
}

}  // namespace

bool compare_changes(Gui& gui, const JointStack& stack) {
  const AppState& state = gui.state;
  const HeadRef head = state.comparison->chosen;
  if (!shows_changes(state) || !state.comparison->heads->head(head)) return false;
  const float unit = gui.unit;
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail(),
               display = ImGui::GetIO().DisplaySize;
  const SentenceFrame frame =
      sentence_frame({at.x / unit, at.y / unit, room.x / unit, room.y / unit}, display.x / unit, display.y / unit);
  const bool fresh = is_fresh(state) && head == state.view.chosen;
  SentenceWishes wishes{.theme = state.settings.theme,
                        .language = state.settings.language,
                        .colours = state.settings.colours,
                        .opacity = fresh ? 1.0f : kStaleOpacity};
  const ChangeScales scales{weight_scale_of_both(state), difference_scale(state, head)};
  auto content = changes_content(stack, head, state.comparison->maps, pinned_joint_cell(state, stack), scales);
  if (!content) return false;
  if (const auto lit = lit_joint_cell(state, stack)) content->query = lit->query;
  const TextWidth measure = window_measure(gui);
  Drawing scene;
  const DrawnSentence drawn = add_sentence(scene, *content, frame, wishes, unit, measure);
  const bool clicked = ImGui::InvisibleButton("changes", {room.x, room.y});
  PointedSentence pointed;
  if (ImGui::IsItemHovered()) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    pointed = pointed_at(*content, drawn, {mouse.x, mouse.y}, 6 * unit);
    const auto cell = cell_at(*content, pointed);
    hover_joint_cell(gui, head, stack, cell);
    if (clicked && cell) pin_joint_cell(gui, stack, *cell);
  }
  if (pointed.word || pointed.arc) {
    wishes.word = pointed.word;
    wishes.arc = pointed.arc;
    scene.items.clear();
    add_sentence(scene, *content, frame, wishes, unit, measure);
  }
  add_nothing_differs(scene, state.comparison->maps.difference, {at.x, at.y, room.x, 0.4f * room.y},
                      state.settings.language, map_style(gui, measure));
  paint_scene(gui, scene, {});
  for (std::size_t i = 0; i < drawn.words.size(); ++i)
    gui.name_box("changed word " + std::to_string(i), drawn.words[i], BoxKind::label);
  for (const DrawnSentence::Arc& arc : drawn.arcs)
    gui.name_box("change " + std::to_string(arc.arc.query) + " " + std::to_string(arc.arc.key), arc.box(), BoxKind::arc,
                 head, 0, arc.arc.cell);
  for (std::size_t j = 0; j < drawn.columns.size(); ++j)
    gui.name_box("changed column " + std::to_string(j), drawn.columns[j], BoxKind::label);
  return true;
}

}  // namespace headlight
