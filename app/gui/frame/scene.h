// A scene in the window: Dear ImGui paints it, and its hit boxes become buttons or names.
#pragma once

#include <functional>

#include "figure/drawing/drawing.h"
#include "gui/frame/gui.h"

namespace headlight {

/// How a scene stands in the window.
struct SceneView {
  ImVec2 origin{0, 0};     // its top left corner
  float scale = 1;         // pixels for each unit of the scene; 1: lines and texts stand on whole pixels
  float opacity = 1;       // of maps and curves
  std::uint64_t slot = 0;  // where its map fades from one content to the next (gui/frame/motion.h); 0: it never does
  /// Names the content of the scene's n-th Cells for MapPainter::draw.
  std::function<std::uint64_t(std::size_t n)> version = {};
};

/// A matrix that outlives the scene that shows it.
inline SharedMatrix borrowed(const Matrix& matrix) { return SharedMatrix(SharedMatrix(), &matrix); }

/// Adds the scene to a draw list, that of the current window; what is out of sight is left out.
void paint_scene(Gui& gui, ImDrawList& list, const Drawing& scene, const SceneView& view);
void paint_scene(Gui& gui, const Drawing& scene, const SceneView& view);
/// The colours of a scale in this box of the screen, framed, with their numbers under them.
void paint_ramp(Gui& gui, ImDrawList& list, const Ramp& ramp);

/// Which of the scene's hit boxes the pointer is on, and which was clicked.
struct HitState {
  std::optional<std::size_t> hovered, clicked;
};
/// Each hit box in sight becomes a button of its name, which Tab reaches. The cursor is left at the last of them.
HitState scene_buttons(Gui& gui, const Drawing& scene, ImVec2 origin);
/// The hit box under the pointer, where the current window has it; all of them are named for tests and lessons.
std::optional<std::size_t> pointed_hit(Gui& gui, const Drawing& scene, ImVec2 origin);

}  // namespace headlight
