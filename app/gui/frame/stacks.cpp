#include "gui/frame/stacks.h"

#include <utility>
#include <vector>

#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "words/answer_words.h"
#include "words/model_words.h"

namespace headlight {

const char* stack_word(const Gui& gui, Stack stack) {
  if (stack == Stack::encoder) return gui.word(kModelWords.encoder);
  return gui.word(stack == Stack::cross ? kAnswerWords.cross : kModelWords.decoder);
}

namespace {

/// The attentions of the answer, where it has several kinds, and the tab of each.
std::vector<std::pair<Stack, Segment>> tabs_of(const Gui& gui) {
  const AppState& state = gui.state;
  std::vector<std::pair<Stack, Segment>> tabs;
  if (!state.trace || !(state.trace->has(Stack::encoder) || state.trace->has(Stack::cross))) return tabs;
  for (const Stack stack : kStacks) {
    if (!state.trace->has(stack)) continue;
    const std::string name = std::string("stack ") + words(Language::en, stack == Stack::self    ? kModelWords.decoder
                                                                         : stack == Stack::cross ? kAnswerWords.cross
                                                                                                 : kModelWords.encoder);
    tabs.emplace_back(stack,
                      Segment{name, stack_word(gui, stack), state.view.chosen.stack == stack,
                              gui.word(stack == Stack::cross ? kAnswerWords.tip_cross : kAnswerWords.tip_stack)});
  }
  return tabs;
}

}  // namespace

float stack_tabs_width(const Gui& gui) {
  float width = 0;
  for (const auto& [stack, tab] : tabs_of(gui)) width += button_width(tab.label);
  return width;
}

bool stack_tabs(Gui& gui) {
  const auto tabs = tabs_of(gui);
  if (tabs.empty()) return false;
  std::vector<Segment> segments;
  for (const auto& [stack, tab] : tabs) segments.push_back(tab);
  const HeadRef& chosen = gui.state.view.chosen;
  if (const auto tab = segmented(gui, segments)) gui.push(ChooseHead{{chosen.layer, chosen.head, tabs[*tab].first}});
  return true;
}

}  // namespace headlight
