#include "gui/actions/buttons.h"

#include "gui/actions/actions.h"
#include "gui/frame/draw.h"

namespace headlight {

void keep_button(Gui& gui, const Words& label) {
  if (flat_button(gui, "keep", gui.word(label))) gui.push(KeepAnswer{});
  explain_item(gui, kCompareWords.tip_keep_as_a, {Act::keep_answer});
}

}  // namespace headlight
