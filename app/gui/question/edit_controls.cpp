#include <cmath>
#include <cstdio>

#include "gui/frame/controls.h"
#include "gui/frame/panels.h"

namespace headlight {
namespace {

std::string short_number(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", static_cast<double>(value));
  return text;
}

void scale_controls(Gui& gui) {
  const AppState& state = gui.state;
  const auto scale = scoped_scale(state);
  const float now = scale.value_or(shown_scale(state));
  bool automatic = !scale;
  if (checkbox(gui, "scale automatic", Str::scale_automatic, automatic, Str::tip_scale)) {
    say_scale(gui, automatic ? std::nullopt : std::optional(now));
    gui.say(EndGesture{});
  }
  control_label(gui, Str::scale, short_number(now));
  float value = now;
  if (slider(gui, "scale", value, 0.0f, 2.0f, Str::tip_scale) && std::isfinite(value)) say_scale(gui, value);
}

void dropout_control(Gui& gui) {
  const Edits& edits = gui.state.document.edits;
  float dropout = edits.dropout;
  control_label(gui, Str::dropout, short_number(dropout));
  if (slider(gui, "dropout", dropout, 0.0f, 0.9f, Str::tip_dropout) && std::isfinite(dropout))
    gui.say(SetDropout{std::min(std::max(dropout, 0.0f), 0.99f), edits.dropout_seed});
  if (edits.dropout <= 0.0f) return;
  if (wide_button(gui, "dropout seed", Str::drop_others, Str::tip_dropout))
    gui.say_once(SetDropout{edits.dropout, edits.dropout_seed + 1});
}

/// What is changed by hand, and the way back.
void changed_by_hand(Gui& gui) {
  const Edits& edits = gui.state.document.edits;
  if (!edits.off.empty()) {
    control_label(gui, Str::heads_off, std::to_string(edits.off.size()));
    const auto off_as = [&](const char* name, Str label, OffAs as) {
      if (flat_button(gui, name, gui.word(label), edits.off_as == as)) gui.say_once(SetOffAs{as});
      explain_item(gui, Str::tip_off_as);
    };
    off_as("off as zero", Str::off_zero, OffAs::zero);
    ImGui::SameLine(0, 0);
    off_as("off as mean", Str::off_mean, OffAs::mean);
    if (wide_button(gui, "all on", Str::all_on, Str::tip_off_as)) gui.say_once(SwitchAllOn{});
  }
  if (!edits.weights.empty()) {
    control_label(gui, Str::weights_by_hand, std::to_string(edits.weights.size()));
    if (wide_button(gui, "clear weights", Str::clear_weights, Str::tip_weight)) gui.say_once(ClearWeights{});
  }
}

}  // namespace

std::optional<float> scoped_scale(const AppState& state) {
  const auto layer = scoped_layer(state);
  if (!layer) return state.document.edits.scale;
  const LayerEdit* own = layer_edit(state.document.edits, state.view.chosen.stack, *layer);
  return own ? own->scale : std::nullopt;
}

void say_scale(Gui& gui, std::optional<float> scale) {
  if (const auto layer = scoped_layer(gui.state)) gui.say(SetLayerScale{gui.state.view.chosen.stack, *layer, scale});
  else gui.say(SetScale{scale});
}

float shown_scale(const AppState& state) {
  if (state.trace) {
    const HeadRef& head = state.view.chosen;
    return state.trace->attention(head.stack, head.layer).scale;
  }
  return 1.0f / std::sqrt(static_cast<float>(config_of(state.document).d_k()));
}

void score_controls(Gui& gui) {
  section(gui, Str::section_scores);
  scale_controls(gui);
  dropout_control(gui);
  changed_by_hand(gui);
}

}  // namespace headlight
