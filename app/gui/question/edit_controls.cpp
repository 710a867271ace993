#include <cmath>

#include "gui/actions/question.h"
#include "gui/frame/controls.h"
#include "gui/frame/stacks.h"
#include "gui/question/question.h"
#include "words/mask_words.h"

namespace headlight {
namespace {

void scale_controls(Gui& gui) {
  const AppState& state = gui.state;
  const auto scale = scoped_scale(state);
  const float now = scale.value_or(shown_scale(state));
  bool automatic = !scale;
  if (checkbox(gui, "scale automatic", kMaskWords.scale_automatic, automatic, kMaskWords.tip_scale)) {
    push_scale(gui, automatic ? std::nullopt : std::optional(now));
    gui.push(EndGesture{});
  }
  control_label(gui, kMaskWords.scale, short_number(now));
  float value = now;
  if (slider(gui, "scale", value, 0.0f, 2.0f, kMaskWords.tip_scale) && std::isfinite(value)) push_scale(gui, value);
}

void dropout_control(Gui& gui) {
  const Edits& edits = gui.state.document.edits;
  float dropout = edits.dropout;
  control_label(gui, kMaskWords.dropout, short_number(dropout));
  if (slider(gui, "dropout", dropout, 0.0f, 0.9f, kMaskWords.tip_dropout) && std::isfinite(dropout))
    gui.push(SetDropout{std::min(std::max(dropout, 0.0f), 0.99f), edits.dropout_seed});
  if (edits.dropout <= 0.0f) return;
  if (wide_button(gui, "dropout seed", kMaskWords.drop_others, gui.word(kMaskWords.tip_dropout)))
    gui.push_once(SetDropout{edits.dropout, edits.dropout_seed + 1});
}

}  // namespace

void changed_by_hand(Gui& gui) {
  const Edits& edits = gui.state.document.edits;
  if (!edits.off.empty()) {
    control_label(gui, kMaskWords.heads_off, std::to_string(edits.off.size()));
    const auto off_as = [&](const char* name, const Words& label, OffAs as) {
      if (flat_button(gui, name, gui.word(label), edits.off_as == as)) gui.push_once(SetOffAs{as});
      explain_item(gui, kMaskWords.tip_off_as);
    };
    off_as("off as zero", kMaskWords.off_zero, OffAs::zero);
    ImGui::SameLine(0, 0);
    off_as("off as mean", kMaskWords.off_mean, OffAs::mean);
    if (wide_button(gui, "all on", kMaskWords.all_on, gui.word(kMaskWords.tip_off_as))) gui.push_once(SwitchAllOn{});
  }
  if (any_parts_off(gui) && wide_button(gui, "parts on", kMaskWords.parts_on, gui.word(kMaskWords.tip_parts_on)))
    gui.push_once(SwitchPartsOn{});
  if (!edits.weights.empty()) {
    control_label(gui, kMaskWords.weights_by_hand, std::to_string(edits.weights.size()));
    if (wide_button(gui, "clear weights", kMaskWords.clear_weights, gui.word(kMaskWords.tip_weight)))
      gui.push_once(ClearWeights{});
  }
}

void part_controls(Gui& gui) {
  bool any = false;
  for (const BlockPart part : kBlockParts) {
    if (!has_part_here(gui, part)) continue;
    if (!any) section(gui, kMaskWords.section_parts);
    any = true;
    const auto at = static_cast<std::size_t>(part);
    bool on = !is_part_off_here(gui, part);
    const std::string item = "part " + std::string(name(part));
    if (checkbox(gui, item.c_str(), kMaskWords.parts[at], on, kMaskWords.tip_parts[at])) switch_part_here(gui, part);
  }
}

void score_controls(Gui& gui) {
  section(gui, kMaskWords.section_scores);
  scale_controls(gui);
  dropout_control(gui);
}

}  // namespace headlight
