#include "gui/frame/scope.h"

#include <cmath>

namespace headlight {

std::optional<Index> scoped_layer(const AppState& state) {
  return state.view.one_layer ? std::optional(state.view.chosen.layer) : std::nullopt;
}

const Mask& mask_of_chosen(const AppState& state) {
  return state.trace->mask(state.view.chosen.stack, state.view.chosen.layer);
}

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
