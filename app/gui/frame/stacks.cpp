#include "gui/frame/stacks.h"

#include "gui/frame/looks.h"
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
  std::vector<Segment> segments;
  std::vector<Stack> stacks;
  for (const Stack stack : kStacks) {
    if (!state.trace->has(stack)) continue;
    const std::string name = std::string("stack ") + words(Language::en, stack == Stack::self    ? kModelWords.decoder
                                                                         : stack == Stack::cross ? kAnswerWords.cross
                                                                                                 : kModelWords.encoder);
    segments.push_back({name, stack_word(gui, stack), state.view.chosen.stack == stack,
                        gui.word(stack == Stack::cross ? kAnswerWords.tip_cross : kAnswerWords.tip_stack)});
    stacks.push_back(stack);
  }
  if (const auto chosen = segmented(gui, segments))
    gui.say(ChooseHead{{state.view.chosen.layer, state.view.chosen.head, stacks[*chosen]}});
  return true;
}

}  // namespace headlight
