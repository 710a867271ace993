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
  ImGui::SetCursorPos({room - button_width(label.c_str()), 0});
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
  ImGui::SetCursorPos({right - width, 0});
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
  ImGui::SetCursorPos({right - width, 4 * gui.unit});
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

/// The lit cell in words, else the strongest; while painting, what the pointer does until it is on a cell.
std::string stage_headline(Gui& gui) {
  const bool of_head = !is_of_layers(shown_kind(gui.state, gui.state.view.chosen.stack));
  if (of_head && chosen_is_off(gui) && !gui.state.view.hovered) return off_lines(gui).front();
  return stage_sentence(gui).headline;
}

/// A line in the large font, or in the next smaller one in which it fits.
void large_line(Gui& gui, const std::string& line, ImU32 colour, float room, float height) {
  for (const TextSize size : {TextSize::large, TextSize::title, TextSize::body}) {
    const FontScope font(gui, size);
    gui.fonts.shown(line, size);
    const float scale = std::min(1.0f, height / ImGui::GetFontSize());
    if (size != TextSize::body && scale * shown_width(gui, line) > room) continue;
    ImGui::SetWindowFontScale(scale);
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + std::round((height - ImGui::GetFontSize()) / 2));
    cut_text(gui, line, colour, room);
    ImGui::SetWindowFontScale(1);
    return;
  }
}

/// What the line above means: the relation and how often it is right, what rests, what was set by hand.
void second_line(Gui& gui, float room) {
  const std::vector<std::string> parts = stage_sentence(gui).details;
  std::string line;
  for (const std::string& part : parts) {
    const std::string longer = line + (line.empty() ? "" : " · ") + part;
    if (line.empty() || shown_width(gui, longer) <= room) line = longer;
  }
  if (line.empty()) return;
  cut_text(gui, line, gui.colours().dim, room);
  gui.name_item("stage details", BoxKind::label);
}

/// The same behind the line above, where a low window has no room below it: how often it is right, the rest as a
/// tooltip.
void details_beside(Gui& gui, float right) {
  const StageLines lines = stage_sentence(gui);
  if (lines.details.empty()) return;
  std::string all;
  for (const std::string& part : lines.details) all += (all.empty() ? "" : "\n") + part;
  explain_item(gui, all);
  const FontScope small(gui, TextSize::small);
  const ImVec2 end = ImGui::GetItemRectMax();
  const float begin = end.x - ImGui::GetWindowPos().x + 12 * gui.unit;
  for (const std::string& text : {lines.details.front(), lines.measured}) {
    if (text.empty() || shown_width(gui, text) > right - begin) continue;
    ImGui::SetCursorPos({begin, end.y - ImGui::GetWindowPos().y - 1.4f * ImGui::GetFontSize()});
    dim_text(gui, text);
    return gui.name_item("stage details", BoxKind::label);
  }
}

}  // namespace

void draw_stage_header(Gui& gui, const StageSlots& slots, const SentenceStage* sentence) {
  const AppState& state = gui.state;
  const Box& slot = slots.header;
  const SlotScope scope("stage header", slot);
  const bool of_head = !is_of_layers(shown_kind(state, state.view.chosen.stack));
  const float unit = gui.unit;
  ImGui::SetCursorPos({0, 0});
  const std::vector<Segment> segments = form_segments(gui);
  const float begin = segmented_width(segments) + 12 * unit;
  if (const auto chosen = segmented(gui, segments)) show_form(gui, static_cast<StageForm>(*chosen));
  float right = slot.w;
  if (of_head) {
    head_switch(gui, slot.w);
    right -= button_width(switch_label(gui).c_str()) + 8 * unit;
  }
  const std::string title = map_title(gui, state.view.chosen);
  {
    const FontScope font(gui, TextSize::title);
    right -= ImGui::CalcTextSize(title.c_str()).x;
    ImGui::SetCursorPos({right, unit});
    ImGui::TextUnformatted(title.c_str());
    gui.name_item("stage title", BoxKind::label);
  }
  if (of_head && !name_of_head(gui, state.view.chosen).words.empty())
    explain_name(gui, state.view.chosen, name_of_head(gui, state.view.chosen));
  else if (of_head) explain_item(gui, kChosenHeadWords.tip_label);
  right = part_of_map(gui, right - 8 * unit);
  if (of_head) right = edits_of_head(gui, right);
  if (of_head && stage_form(state) == StageForm::map && right - begin > 60 * unit) {
    ImGui::SetCursorPos({begin, 4 * unit});
    measured_line(gui, state.view.chosen, right - begin);
  }
  const float top = slot.h - slots.headline - (slots.low ? 0 : kSecondLine * unit);
  const bool paints = state.view.painting && shows_tokens(state) && !state.view.hovered;
  const std::string line = paints ? gui.word(kMaskWords.paint_hint) : stage_headline(gui);
  ImGui::SetCursorPos({0, top});
  if (!line.empty()) {
    large_line(gui, line, paints ? gui.colours().action : gui.colours().text, slot.w, slots.headline);
    gui.name_item("stage sentence", BoxKind::label);
  }
  if (slots.low) return details_beside(gui, slot.w);
  const float links = sentence ? ImGui::CalcTextSize(arcs_line(gui, *sentence).c_str()).x + 24 * unit : 0;
  ImGui::SetCursorPos({0, slot.h - kSecondLine * unit});
  second_line(gui, slot.w - links - 12 * unit);
  if (!sentence || sentence->above < 0) return;
  const FontScope small(gui, TextSize::small);
  ImGui::SetCursorPos({slot.w - shown_width(gui, arcs_line(gui, *sentence)), slot.h - 20 * unit});
  arcs_menu(gui, *sentence);
}

}  // namespace headlight
