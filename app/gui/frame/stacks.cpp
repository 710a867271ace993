#include "gui/frame/stacks.h"

#include <cmath>

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

std::optional<Index> scoped_layer(const AppState& state) {
  return state.view.one_layer ? std::optional(state.view.chosen.layer) : std::nullopt;
}

const Mask& mask_of_chosen(const AppState& state) { return state.trace->mask_of(state.view.chosen); }

const MaskSpec& scoped_mask(const AppState& state) {
  const Stack stack = state.view.chosen.stack;
  return state.view.one_layer ? mask_of(state.document, stack, state.view.chosen.layer)
                              : mask_of(state.document, stack);
}

std::optional<float> scoped_scale(const AppState& state) {
  const auto layer = scoped_layer(state);
  if (!layer) return state.document.edits.scale;
  const LayerEdit* own = layer_edit(state.document.edits, state.view.chosen.stack, *layer);
  return own ? own->scale : std::nullopt;
}

void push_scale(Gui& gui, std::optional<float> scale) {
  if (const auto layer = scoped_layer(gui.state)) gui.push(SetLayerScale{gui.state.view.chosen.stack, *layer, scale});
  else gui.push(SetScale{scale});
}

float shown_scale(const AppState& state) {
  if (state.trace) {
    const HeadRef& head = state.view.chosen;
    return state.trace->attention(head.stack, head.layer).scale;
  }
  return 1.0f / std::sqrt(static_cast<float>(config_of(state.document).d_k()));
}

}  // namespace headlight
