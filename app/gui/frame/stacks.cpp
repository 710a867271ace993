#include "gui/frame/stacks.h"

#include "gui/frame/draw.h"
#include "words/answer_words.h"
#include "words/model_words.h"

namespace headlight {

const char* stack_word(const Gui& gui, Stack stack) {
  if (stack == Stack::encoder) return gui.word(kModelWords.encoder);
  return gui.word(stack == Stack::cross ? kAnswerWords.cross : kModelWords.decoder);
}

bool stack_tabs(Gui& gui) {
  const AppState& state = gui.state;
  if (!state.trace || !(state.trace->has(Stack::encoder) || state.trace->has(Stack::cross))) return false;
  bool first = true;
  for (const Stack stack : kStacks) {
    if (!state.trace->has(stack)) continue;
    if (!first) ImGui::SameLine(0, 0);
    first = false;
    const std::string name = std::string("stack ") + words(Language::en, stack == Stack::self    ? kModelWords.decoder
                                                                         : stack == Stack::cross ? kAnswerWords.cross
                                                                                                 : kModelWords.encoder);
    if (flat_button(gui, name.c_str(), stack_word(gui, stack), state.view.chosen.stack == stack))
      gui.say(ChooseHead{{state.view.chosen.layer, state.view.chosen.head, stack}});
    explain_item(gui, stack == Stack::cross ? kAnswerWords.tip_cross : kAnswerWords.tip_stack);
  }
  return true;
}

}  // namespace headlight
