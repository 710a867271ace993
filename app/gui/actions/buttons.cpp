#include "gui/actions/buttons.h"

#include "gui/actions/actions.h"
#include "gui/frame/draw.h"
#include "words/grid_words.h"

namespace headlight {

void keep_button(Gui& gui, const Words& label) {
  if (flat_button(gui, "keep", gui.word(label))) gui.push(KeepAnswer{});
  explain_item(gui, kCompareWords.tip_keep_as_a, {Act::keep_answer});
}

void own_range_button(Gui& gui) {
  const bool own = gui.state.view.own_range;
  if (flat_button(gui, "own range", gui.word(kGridWords.own_range), own)) gui.push(SetOwnRange{!own});
  explain_item(gui, kGridWords.tip_own_range, {Act::own_range});
}

}  // namespace headlight
