#include "gui/actions/buttons.h"

#include "gui/frame/draw.h"
#include "gui/frame/looks.h"

namespace headlight {

void act_line(Gui& gui, const char* name, const Words& label, Act act) {
  const Action& one = action(act);
  if (menu_line(gui, name, gui.word(label), keys_of(act), false, is_possible(gui, one))) perform(gui, one);
}

void keep_button(Gui& gui, const Words& label) {
  if (flat_button(gui, "keep", gui.word(label))) gui.push(KeepAnswer{});
  explain_item(gui, kCompareWords.tip_keep_as_a, {Act::keep_answer});
}

}  // namespace headlight
