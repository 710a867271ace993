#include <algorithm>
#include <cmath>

#include "gui/actions/look.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/frame/relation_labels.h"
#include "session/shown.h"
#include "views/heads/panel/derived_maps.h"
#include "views/heads/panel/stage_parts.h"
#include "views/heads/panel/stage_sentence.h"
#include "words/chosen_head_words.h"
#include "words/grid_words.h"
#include "words/mask_words.h"

namespace headlight {
namespace {

bool chosen_is_off(const Gui& gui) { return is_off(gui.state.document.edits, gui.state.view.chosen); }

/// The label of the chosen head's switch, with room for its disc.
std::string switch_label(const Gui& gui) {
  return std::string("    ") +
         gui.word(chosen_is_off(gui) ? kChosenHeadWords.head_is_off : kChosenHeadWords.head_is_on);
}

/// Whether the head is on, as a switch at the right end of the line: a disc, or a ring while it is off, as in the
/// atlas.
void head_switch(Gui& gui, float room) {
  const bool off = chosen_is_off(gui);
  const std::string label = switch_label(gui);
  ImGui::SetCursorPos({room - button_width(label.c_str()), 6 * gui.unit});
  if (flat_button(gui, "switch head", label.c_str(), off)) gui.push_once(SwitchHead{gui.state.view.chosen, !off});
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
  const float radius = 4.5f * gui.unit, spaces = ImGui::CalcTextSize("    ").x;
  const ImVec2 middle{min.x + ImGui::GetStyle().FramePadding.x + 0.4f * spaces, std::round((min.y + max.y) / 2)};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (off) list.AddCircle(middle, radius, gui.colours().text, 0, 1.5f * gui.unit);
  else list.AddCircleFilled(middle, radius, gui.colours().text);
  explain_item(gui, kChosenHeadWords.tip_on_off);
}

/// Which part of the pattern is seen, and the way back to all of it, left of `right`; gives where that begins.
float part_of_map(Gui& gui, float right) {
  const AppState& state = gui.state;
  const Viewport& part = state.view.viewport;
  const bool of_weights = shown_kind(state, state.view.chosen.stack) == MapKind::weights;
  const bool has_parts = of_weights && !shows_text(state) && shows_tokens(state);
  if (part.num_queries == 0 || !has_parts) return right;
  const float width = part_line_width(gui, part);
  ImGui::SetCursorPos({right - width, 6 * gui.unit});
  if (part_line(gui, part)) gui.push(SetViewport{});
  return right - width;
}

/// How many weights of the head are set by hand, and the way back, left of `right`; gives where that begins.
float edits_of_head(Gui& gui, float right) {
  const HeadRef& head = gui.state.view.chosen;
  const Index count = weights_by_hand(gui.state, head);
  if (count == 0) return right;
  const std::string label = words_by_hand(gui, count) + " ×";
  const float width = ImGui::CalcTextSize(label.c_str()).x;
  ImGui::SetCursorPos({right - width, 6 * gui.unit});
  if (link_button(gui, "weights of head as computed", label.c_str())) gui.push_once(ClearWeights{head});
  explain_item(gui, kStageWords.tip_weights_by_hand);
  return right - width - 8 * gui.unit;
}

/// What it means that the chosen head is off, the longest sentence first.
std::vector<std::string> off_lines(const Gui& gui) {
  const AppState& state = gui.state;
  const HeadRef& head = state.view.chosen;
  const auto line = [&](const Words& words) { return filled(gui.word(words), {head_words(gui, head)}); };
  if (is_read_later(*state.trace, head)) return {line(kStageWords.off_below)};
  if (!can_say_words(state)) return {line(kStageWords.off_without_guess)};
  return {line(kStageWords.off_in_last_layer), line(kStageWords.off_in_last_layer_brief)};
}

/// The line describes the lit cell, else the strongest; while painting, what the pointer does until it is on a cell.
void cell_line(Gui& gui, float room) {
  if (gui.state.view.painting && shows_tokens(gui.state) && !gui.state.view.hovered)
    return cut_text(gui, gui.word(kMaskWords.paint_hint), gui.colours().action, room);
  const bool of_head = shown_kind(gui.state, gui.state.view.chosen.stack) != MapKind::rollout;
  std::vector<std::string> sentences = stage_sentence(gui);
  if (of_head && chosen_is_off(gui) && !gui.state.view.hovered) sentences = off_lines(gui);
  if (sentences.empty()) return;
  const auto fits = [&](const std::string& sentence) { return shown_width(gui, sentence) <= room; };
  const auto shown = std::ranges::find_if(sentences, fits);
  cut_text(gui, shown == sentences.end() ? sentences.back() : *shown, gui.colours().text, room);
  gui.name_item("stage sentence", BoxKind::label);
  if (shown != sentences.begin() && shown != sentences.end()) explain_item(gui, sentences.front());
}

}  // namespace

void draw_stage_header(Gui& gui, const Box& slot) {
  const AppState& state = gui.state;
  const SlotScope scope("stage header", slot);
  const bool of_head = shown_kind(state, state.view.chosen.stack) != MapKind::rollout;
  ImGui::SetCursorPos({0, 8 * gui.unit});
  {
    const FontScope large(gui, TextSize::title);
    ImGui::TextUnformatted(map_title(gui, state.view.chosen).c_str());
    gui.name_item("stage title", BoxKind::label);
  }
  if (of_head) explain_item(gui, kChosenHeadWords.tip_label);
  const float title_end = ImGui::GetItemRectMax().x + 12 * gui.unit;
  float right = slot.w;
  if (of_head) right -= button_width(switch_label(gui).c_str()) + 8 * gui.unit;
  if (const auto segments = text_or_map_segments(gui); !segments.empty()) {
    right -= segmented_width(segments);
    ImGui::SetCursorPos({right, 6 * gui.unit});
    right -= 8 * gui.unit;
    if (const auto chosen = segmented(gui, segments)) show_text(gui, *chosen == 1);
  }
  right = part_of_map(gui, right);
  if (of_head) {
    right = edits_of_head(gui, right);
    ImGui::SetCursorScreenPos({title_end, slot.y + 12 * gui.unit});
    measured_line(gui, state.view.chosen, slot.x + right - title_end);
    head_switch(gui, slot.w);
  }
  ImGui::SetCursorPos({0, 40 * gui.unit});
  cell_line(gui, slot.w);
}

}  // namespace headlight
