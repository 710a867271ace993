// Two pictures under one head: what a token looks at in A, in B and the difference, each over its picture.
#include <algorithm>

#include "gui/actions/look.h"
#include "gui/frame/draw.h"
#include "gui/frame/scene.h"
#include "gui/frame/texture_ids.h"
#include "session/shown.h"
#include "views/compare/panel/compare.h"
#include "views/compare/panel/joint_map.h"

namespace headlight {
namespace {

/// The row of `query` over one picture. A token under the pointer is lit everywhere; a click makes it the query. Gives
/// the width.
float one_picture(Gui& gui, const JointStack& stack, const ComparedPicture& shown, Index query, const Box& room) {
  const AppState& state = gui.state;
  const TextWidth measure = window_measure(gui);
  const float em = gui.fonts.pixels(TextSize::small) / kLineOfEm, title = kPictureTitle * em;
  const PictureLayout layout = picture_layout(shown.tokens.picture->grid, room.w, room.h - title, em, 1, measure);
  const ImVec2 origin{room.x, room.y + title};
  const bool is_difference = shown.side == JointSide::difference;
  Drawing scene;
  add_compared_picture(
      scene, layout, shown,
      {.query = query,
       .scale = is_difference ? difference_scale(state, state.comparison->chosen) : weight_scale_of_both(state),
       .cover = cover_of(state),
       .outline = gui.unit},
      measure);
  ImGui::SetCursorScreenPos(origin);
  const std::string name = std::string("picture ") + shown.title;
  const bool clicked = ImGui::InvisibleButton(name.c_str(), {layout.image.w, layout.height()});
  const bool hovered = ImGui::IsItemHovered();
  gui.name_box(name, moved(layout.image, {origin.x, origin.y}), BoxKind::map, state.view.chosen);
  if (const auto token = pointed_hit(gui, scene, origin); hovered && token) {
    const auto key = static_cast<Index>(*token);
    hover_joint_cell(gui, state.view.chosen, stack, CellRef{query, key});
    scene.add(Rectangle{
        .box = layout.box(key), .fill = {}, .line = ink_colours(state.settings.theme).accent, .width = gui.unit});
    Index strongest = 0;
    state.comparison->maps.b.row(key).maxCoeff(&strongest);
    if (clicked) gui.push(Pin{cells_behind(stack, {key, strongest}).b});
  }
  const auto side = static_cast<std::size_t>(shown.side);
  const auto version = [&](std::size_t) {
    return joint_version(state, 3 * static_cast<std::size_t>(query + 1) + side);
  };
  paint_scene(gui, scene, {.origin = origin, .opacity = is_fresh(state) ? 1.0f : kStaleOpacity, .version = version});
  return layout.width();
}

}  // namespace

bool compare_pictures(Gui& gui, const JointStack& stack) {
  const AppState& state = gui.state;
  const auto a = compared_trace(state);
  const auto pictures = a ? compared_pictures(*a, *state.trace, state.comparison->maps) : std::nullopt;
  if (!pictures) return false;
  const auto pinned = pinned_joint_cell(state, stack);
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float gap = 16 * gui.unit, width = (room.x - 2 * gap) / 3;
  float x = at.x;
  for (const ComparedPicture& one : *pictures)
    x += one_picture(gui, stack, one, pinned ? pinned->query : 0, {x, at.y, width, room.y}) + gap;
  return true;
}

}  // namespace headlight
