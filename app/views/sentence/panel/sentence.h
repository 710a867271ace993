// The sentence on the stage: the scene, and what the pointer does in it.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// What the scene has drawn, and what a click asks for.
struct SentenceStage {
  float threshold = 0.3f;                         // of arcs without a name
  Index above = -1;                               // pairs of words with such a weight; −1: there are no pairs
  bool opens_menu = false, types_weight = false;  // of the pinned cell
};

/// Draws the sentence into this room. A click on a word pins its heaviest cell, on an arc, a row or a bar that cell; on
/// the pinned one it opens *Why?*. A drag of a bar of the pinned row sets its weight.
SentenceStage sentence_stage(Gui& gui, const Box& room);

/// How many weights stand above the threshold of arcs without a name, as a menu that changes it.
void arcs_menu(Gui& gui, const SentenceStage& stage);
/// Its text, for its width.
std::string arcs_line(const Gui& gui, const SentenceStage& stage);

}  // namespace headlight
