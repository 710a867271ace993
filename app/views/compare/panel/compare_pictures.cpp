// Two pictures under one head: what a token looks at in A, in B and the difference, each over its picture.
#include <algorithm>

#include "gui/actions/look.h"
#include "gui/frame/draw.h"
#include "gui/frame/scene.h"
#include "gui/frame/texture_ids.h"
#include "session/shown.h"
#include "views/compare/panel/compare.h"
#include "views/compare/panel/joint_map.h"
#include "views/text/picture_scene.h"

namespace headlight {
namespace {

/// A, B or B − A.
struct ComparedPicture {
  JointSide side;
  const char* title;
  const Tokens& tokens;
  const Matrix& cells;
};

/// The row of `query` over one picture. A token under the pointer is lit everywhere; a click makes it the query. Gives
/// the width.
float one_picture(Gui& gui, const JointStack& stack, const ComparedPicture& shown, Index query, const Box& room) {
  const AppState& state = gui.state;
  const TextWidth measure = window_measure(gui);
  const InkColours ink = ink_colours(state.settings.theme);
  const float em = gui.fonts.pixels(TextSize::small) / kLineOfEm, title = 1.6f * em;
  const PictureLayout layout = picture_layout(shown.tokens.picture->grid, room.w, room.h - title, em, 1, measure);
  const ImVec2 origin{room.x, room.y + title};
  const std::string name = std::string("picture ") + shown.title;
  const Vector weights = shown.cells.row(query).transpose();
  const bool is_difference = shown.side == JointSide::difference;
  const std::vector<Index> chosen{query};
  const std::string hits = name + " token ";
  Drawing scene;
  add_shaded_picture(
      scene, layout, shown.tokens,
      {.shades = &weights,
       .scale = is_difference ? difference_scale(state, state.comparison->chosen) : weight_scale_of_both(state),
       .chosen = &chosen,
       .hits = hits,
       .outline = gui.unit},
      cover_of(state), ink);
  scene.add(text_of({0, -title / 2}, shown.title, em, joint_ink(shown.side, state.settings.theme), measure,
                    Anchor::left, Role::title));
  ImGui::SetCursorScreenPos(origin);
  const bool clicked = ImGui::InvisibleButton(name.c_str(), {layout.image.w, layout.height()});
  const bool hovered = ImGui::IsItemHovered();
  gui.name_box(name, moved(layout.image, {origin.x, origin.y}), BoxKind::map, state.view.chosen);
  if (const auto token = pointed_hit(gui, scene, origin); hovered && token) {
    const auto key = static_cast<Index>(*token);
    hover_joint_cell(gui, state.view.chosen, stack, CellRef{query, key});
    scene.add(Rectangle{.box = layout.box(key), .fill = {}, .line = ink.accent, .width = gui.unit});
    Index strongest = 0;
    state.comparison->maps.b.row(key).maxCoeff(&strongest);
    if (clicked) gui.push(Pin{cells_behind(stack, {key, strongest}).b});
  }
  const auto side = static_cast<std::size_t>(shown.side);
  const auto version = [&](std::size_t) {
    return joint_version(state, 3 * static_cast<std::size_t>(query + 1) + side);
  };
  paint_scene(gui, scene, {.origin = origin, .opacity = is_fresh(state) ? 1.0f : kStaleOpacity, .version = version});
  return layout.image.w;
}

}  // namespace

bool compare_pictures(Gui& gui, const JointStack& stack) {
  const AppState& state = gui.state;
  const auto a = compared_trace(state);
  const PatternPair& maps = state.comparison->maps;
  if (!a || !a->key_tokens().picture || !state.trace->key_tokens().picture) return false;
  const Tokens &of_a = a->key_tokens(), &of_b = state.trace->key_tokens();
  const PatchGrid& grid = of_b.picture->grid;
  if (!(of_a.picture->grid == grid) || maps.a.rows() != grid.tokens() || maps.a.cols() != grid.tokens()) return false;
  const auto pinned = pinned_joint_cell(state, stack);
  const Index query = pinned ? pinned->query : 0;
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float gap = 16 * gui.unit, width = (room.x - 2 * gap) / 3;
  const ComparedPicture all[] = {{JointSide::a, "A", of_a, maps.a},
                                 {JointSide::b, "B", of_b, maps.b},
                                 {JointSide::difference, "B − A", of_b, maps.difference}};
  float x = at.x;
  for (const ComparedPicture& one : all) x += one_picture(gui, stack, one, query, {x, at.y, width, room.y}) + gap;
  return true;
}

}  // namespace headlight
