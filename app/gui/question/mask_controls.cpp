#include <algorithm>

#include "figure/labels.h"
#include "gui/actions/actions.h"
#include "gui/actions/look.h"
#include "gui/frame/controls.h"
#include "gui/frame/stacks.h"
#include "gui/question/question.h"
#include "words/mask_words.h"
#include "words/sentence_words.h"

namespace headlight {
namespace {

/// Which attention the controls act on: the chosen head's stack, in one of its layers or in all.
void scope(Gui& gui) {
  const AppState& state = gui.state;
  const HeadRef& head = state.view.chosen;
  const std::string one = layer_title(state.settings.language, head.layer);
  if (flat_button(gui, "all layers", gui.word(kMaskWords.all_layers), !state.view.one_layer)) gui.push(SetScope{false});
  explain_item(gui, kMaskWords.tip_scope);
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "one layer", one.c_str(), state.view.one_layer)) gui.push(SetScope{true});
  explain_item(gui, kMaskWords.tip_scope);
  if (!layer_edit(state.document.edits, head.stack, head.layer)) return;
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "clear layer", "×")) gui.push_once(ClearLayer{head.stack, head.layer});
  explain_item(gui, kMaskWords.clear_layer);
}

/// The question in which layers the mask or the scale holds arises once one of them was changed.
bool has_reason_to_scope(const AppState& state) {
  const Document& document = state.document;
  MaskSpec usual;
  usual.causal = state.view.chosen.stack == Stack::self && is_causal_by_default(config_of(document).arch);
  return state.view.one_layer || !document.edits.layers.empty() || document.edits.scale ||
         !(mask_of(document, state.view.chosen.stack) == usual);
}

}  // namespace

void padding_control(Gui& gui) {
  const Request* request = whole_request(gui.state);
  if (!request || request->model) return;
  int pad = static_cast<int>(gui.state.document.pad);
  const int most = std::max(1, static_cast<int>(request->tokens.size()));
  control_label(gui, kMaskWords.pad_last, std::to_string(pad));
  if (slider(gui, "pad", pad, 0, most, kSentenceWords.tip_pad_here)) gui.push(SetPad{static_cast<std::size_t>(pad)});
}

void paint_control(Gui& gui) {
  const bool painting = gui.state.view.painting;
  if (flat_button(gui, "paint", gui.word(kMaskWords.paint_brief), painting)) gui.push(SetPainting{!painting});
  explain_item(gui, kMaskWords.tip_paint);
}

void mask_controls(Gui& gui) {
  const AppState& state = gui.state;
  const Stack stack = state.view.chosen.stack;
  const auto layer = scoped_layer(state);
  const MaskSpec& mask = scoped_mask(state);
  section(gui, kMaskWords.section_mask);
  if (state.trace && state.trace->encoder) {
    ImGui::SameLine();
    ImGui::TextUnformatted(("· " + std::string(stack_word(gui, stack))).c_str());
  }
  SetMask wanted{mask.causal, mask.padding, stack, layer};
  if (checkbox(gui, "padding", kMaskWords.padding, wanted.padding, kMaskWords.tip_padding)) gui.push_once(wanted);
  if (!mask.painted.empty() && wide_button(gui, "clear paint", kMaskWords.clear_paint, gui.word(kMaskWords.paint_hint)))
    gui.push_once(ClearPaint{stack, layer});
  // The line is there before it is needed: what stands below does not move.
  if (state.trace && state.trace->num_layers(stack) > 1) {
    if (has_reason_to_scope(state)) scope(gui);
    else ImGui::Dummy({0, ImGui::GetFrameHeight()});
  }
  if (mask.given || mask.batch) {
    ImGui::AlignTextToFramePadding();
    const bool of_heads = state.trace && state.trace->mask(stack, state.view.chosen.layer).heads() > 0;
    ImGui::TextUnformatted(gui.word(of_heads ? kMaskWords.mask_of_heads : kMaskWords.mask_from_file));
    if (of_heads) explain_item(gui, kMaskWords.paint_all_heads);
    ImGui::SameLine();
    if (flat_button(gui, "remove mask", gui.word(kMaskWords.remove))) gui.push_once(GiveMask{nullptr, stack, layer});
  }
}

}  // namespace headlight
