// A map on the joint axes of two answers (figure/comparison_scene.h) in the window, and its lit cell in words.
#pragma once

#include "gui/frame/map_view.h"
#include "views/compare/comparison_scene.h"

namespace headlight {

/// The colour scale of the weights of both answers, and the scale of a head's difference. Both cover all heads, or,
/// where each head has a separate range, one head: the first the chosen head in A and B, the second this head.
ColourScale weight_scale_of_both(const AppState& state);
ColourScale difference_scale(const AppState& state, const HeadRef& head);

/// Of A's name and of B's.
ImU32 ink_of_a(const Gui& gui);
ImU32 ink_of_b(const Gui& gui);

/// A part of the joint axes; zero sizes: all of them.
Viewport shown_part(const JointStack& stack, const Viewport& part = {});

/// Whether the comparison is of the two answers as they are now.
bool is_fresh(const AppState& state);

/// A map of a head on the joint axes.
struct JointMap {
  const JointStack& stack;
  HeadRef head;
  const Matrix& cells;  // may be shrunk to fewer cells than the axes have
  JointSide side = JointSide::difference;
  Viewport part = {};                  // of the joint axes that is seen; zero sizes: all
  const AxisLabels* labels = nullptr;  // a side of the chosen head, with its numbers; null: a small difference
};

/// Draws it, paler where it is not fresh. Gives the joint cell under the pointer.
std::optional<CellRef> draw_joint_map(Gui& gui, const JointMap& map, const MapLayout& layout, bool fresh);

/// The pointer is on a joint cell of a head: lights it everywhere.
void hover_joint_cell(Gui& gui, const HeadRef& head, const JointStack& stack, const std::optional<CellRef>& cell);

/// Pins the cell in the answer that has it; the pinned one is let go.
void pin_joint_cell(Gui& gui, const JointStack& stack, const CellRef& cell);

/// What changed, over the words, instead of maps (views/compare/changes_scene.h). False where maps are shown.
bool compare_changes(Gui& gui, const JointStack& stack);

/// The chosen head's row of a token over both pictures, instead of its maps. False where they are not cut alike, or are
/// none.
bool compare_pictures(Gui& gui, const JointStack& stack);

/// `订了 looks at 机票: A 0.1200 → B 0.8700 (+0.7500)`, the cell that is hovered or pinned; empty where none is.
std::string lit_joint_cell_in_words(Gui& gui);

}  // namespace headlight
