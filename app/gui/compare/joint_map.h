// A map on the joint axes of two answers: what A gives, what B gives, or how they differ.
#pragma once

#include "derived/answer_comparison.h"
#include "gui/frame/map_view.h"

namespace headlight {

enum class JointSide { a, b, difference };

struct JointMap {
  const JointStack* stack = nullptr;
  HeadRef head = {};
  JointSide side = JointSide::difference;
  const Matrix* cells = nullptr;  // as PatternPair has them; may be shrunk to fewer cells than the axes have
  std::uint64_t version = 0;      // names the content of `cells`
  bool values = false;            // print the numbers in the cells where there is room
  Viewport part = {};             // of the joint axes that is seen; zero sizes: all
  bool words_of_all = false;      // its words stand for those of A, B and their difference alike
};

/// The colour scale of the weights of both answers, and the scale of a head's difference. Both cover all heads, or,
/// where each head has a separate range, one head: the first the chosen head in A and B, the second this head.
ColourScale weight_scale_of_both(const AppState& state);
ColourScale difference_scale(const AppState& state, const HeadRef& head);

/// A stands for what is below zero in a difference, B for what is above: their names, and the words only one has.
ImU32 ink_of_a(const Gui& gui);
ImU32 ink_of_b(const Gui& gui);

MapLayout joint_layout(const JointMap& map, const AxisLabels& labels, const Box& area);

/// Draws the map: words that only one answer has in its colour, rows and columns that this side lacks tinted. Gives the
/// joint cell under the pointer.
std::optional<CellRef> draw_joint_map(Gui& gui, ImDrawList& list, const JointMap& map, const AxisLabels& labels,
                                      const MapLayout& layout, float opacity);

/// The pointer is on a joint cell of a head: lights it everywhere.
void hover_joint_cell(Gui& gui, const HeadRef& head, const JointStack& stack, const std::optional<CellRef>& cell);
/// Pins a joint cell, or lets it go where it is pinned.
void pin_joint_cell(Gui& gui, const JointStack& stack, const CellRef& cell);

/// `订了 looks at 机票: A 0.1200 → B 0.8700 (+0.7500)`, of a head of B and, where A has it, of A's.
std::string joint_cell_in_words(Gui& gui, const HeadRef& head, const JointStack& stack, const CellRef& cell);

/// The cell that is hovered or pinned in those words; empty where none is.
std::string lit_joint_cell_in_words(Gui& gui);

}  // namespace headlight
