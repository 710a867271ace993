// Above two answers: what A is, what B is, and what can be done with them.
#include <algorithm>

#include "figure/difference_words.h"
#include "gui/actions/actions.h"
#include "gui/actions/buttons.h"
#include "gui/actions/look.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/frame/no_answer.h"
#include "models/model_sources.h"
#include "session/shown.h"
#include "views/compare/panel/compare.h"
#include "views/compare/panel/joint_map.h"
#include "words/answer_words.h"
#include "words/compare_words.h"

namespace headlight {
namespace {

/// The names of the two answers, in words for the difference alone.
struct BothInWords {
  std::string a, b;
};

BothInWords both_in_words(const Gui& gui) {
  const AppState& state = gui.state;
  const auto other = compared_trace(state);
  const NamedAnswer b{*state.trace, state.document, shown_step(state)};
  const NamedAnswer a = state.kept ? NamedAnswer{*other, state.kept->document, state.kept->step}
                                   : NamedAnswer{*other, state.document, b.step};
  const DifferenceWords words = difference_words(state.settings.language, a, b);
  BothInWords both{in_a_line(words.a), in_a_line(words.b)};
  if (!state.kept) both.a = gui.word(kCompareWords.without_edits) + (both.a.empty() ? "" : ": " + both.a);
  if (both.a.empty()) both.a = gui.word(kCompareWords.kept_answer);
  if (both.b.empty()) both.b = gui.word(kCompareWords.same_as_a);
  return both;
}

/// `A  causal · off: 1·3`, cut where there is no more room; all of it under the pointer.
void answer_line(Gui& gui, const char* name, ImU32 ink, const std::string& words, float right) {
  const std::string shown = gui.fonts.shown(words);
  ImGui::AlignTextToFramePadding();
  coloured_text(ink, name);
  ImGui::SameLine(0, 8 * gui.unit);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = std::max(20 * gui.unit, ImGui::GetWindowPos().x + right - at.x);
  ImGui::PushClipRect(at, {at.x + room, at.y + ImGui::GetFrameHeight()}, true);
  ImGui::TextUnformatted(shown.c_str());
  ImGui::PopClipRect();
  gui.name_box(std::string("answer ") + name, {at.x, at.y, room, ImGui::GetFrameHeight()});
  if (ImGui::IsItemHovered() && ImGui::CalcTextSize(shown.c_str()).x > room) explain_item(gui, words);
}

std::vector<Segment> ways_to_compare(const Gui& gui) {
  const bool patch = gui.state.view.patch.on, changes = !patch && shows_changes(gui.state);
  std::vector<Segment> ways{{"compare maps", gui.word(kCompareWords.maps_of_both), !patch && !changes,
                             gui.word(kCompareWords.tip_maps_of_both)},
                            {"take from a", gui.word(kCompareWords.take_from_a), patch,
                             with_keys(gui, kCompareWords.tip_take_from_a, {Act::take_from_a})}};
  if (offers_changes(gui.state))
    ways.insert(ways.begin(),
                {"compare changes", gui.word(kCompareWords.changes), changes, gui.word(kCompareWords.tip_changes)});
  return ways;
}

std::vector<Segment> alignments_of(const Gui& gui) {
  const Alignment now = drawn_alignment(gui.state);
  return {
      {"align words", gui.word(kCompareWords.by_words), now == Alignment::words, gui.word(kCompareWords.tip_by_words)},
      {"align positions", gui.word(kCompareWords.by_positions), now == Alignment::positions,
       gui.word(kCompareWords.tip_by_positions)}};
}

}  // namespace

void compare_start_panel(Gui& gui) {
  if (state_card(gui)) return;
  problem_line(gui);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const auto centre = [&](float width) { ImGui::SetCursorPosX(std::max(0.0f, (room.x - width) / 2)); };
  ImGui::SetCursorPosY(room.y * 0.36f);
  {
    const FontScope title(gui, TextSize::title);
    const char* words = gui.word(gui.state.kept ? kCompareWords.computing_a : kCompareWords.nothing_kept);
    centre(ImGui::CalcTextSize(words).x);
    ImGui::TextUnformatted(words);
  }
  if (gui.state.kept) return;
  const float width = std::min(room.x * 0.8f, ImGui::CalcTextSize(gui.word(kCompareWords.how_to_compare)).x + 1);
  centre(width);
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
  ImGui::TextUnformatted(gui.word(kCompareWords.how_to_compare));
  ImGui::PopTextWrapPos();
  ImGui::Dummy({0, 8 * gui.unit});
  centre(primary_width(gui.word(kCompareWords.keep_as_a)));
  if (primary_button(gui, "keep", gui.word(kCompareWords.keep_as_a))) gui.push(KeepAnswer{});
  explain_item(gui, kCompareWords.tip_keep_as_a, {Act::keep_answer});
  ImGui::Dummy({0, 4 * gui.unit});
  if (const std::string base = base_of_source(gui.state.document.model_path); !base.empty()) {
    centre(button_width(gui.word(kCompareWords.base_as_a)));
    if (flat_button(gui, "base as a", gui.word(kCompareWords.base_as_a))) gui.push(OpenPath{base, true});
    explain_item(gui, kCompareWords.tip_base_as_a);
  }
  centre(button_width(gui.word(kCompareWords.open_as_a)));
  if (flat_button(gui, "open as a", gui.word(kCompareWords.open_as_a)))
    gui.push(Browse{Browser::Purpose::open, gui.state.browser.folder, true});
  explain_item(gui, kCompareWords.tip_open_as_a);
}

void compare_header_panel(Gui& gui) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2{ImGui::GetStyle().ItemSpacing.x, 0});
  const BothInWords both = both_in_words(gui);
  const float gap = 16 * gui.unit, end = ImGui::GetWindowContentRegionMax().x;
  float buttons = button_width(gui.word(kCompareWords.keep_as_a));
  if (gui.state.kept)
    buttons += button_width(gui.word(kCompareWords.swap_a_b)) + button_width(gui.word(kCompareWords.drop_a));
  answer_line(gui, "A", ink_of_a(gui), both.a, end - buttons - gap);
  ImGui::SameLine(end - buttons);
  keep_button(gui);
  if (gui.state.kept) {
    ImGui::SameLine(0, 0);
    if (flat_button(gui, "swap", gui.word(kCompareWords.swap_a_b))) gui.push(SwapKept{});
    explain_item(gui, kCompareWords.tip_swap_a_b, {Act::swap_answers});
    ImGui::SameLine(0, 0);
    if (flat_button(gui, "drop", gui.word(kCompareWords.drop_a))) gui.push(DropKept{});
    explain_item(gui, kCompareWords.tip_drop_a, {Act::drop_answer});
  }
  const bool by_place = gui.state.document.picture != nullptr;  // patches have places, no words
  const std::vector<Segment> ways = ways_to_compare(gui), alignments = alignments_of(gui);
  const float choices = segmented_width(ways) + (by_place ? 0 : segmented_width(alignments) + 8 * gui.unit);
  if (const Error* problem = problem_of(gui.state))
    answer_line(gui, "B", gui.colours().warning, plain_line(gui, *problem) + " — " + gui.word(kAnswerWords.stale),
                end - choices - gap);
  else answer_line(gui, "B", ink_of_b(gui), both.b, end - choices - gap);
  ImGui::SameLine(end - choices);
  if (!by_place) {
    if (const auto pressed = segmented(gui, alignments)) gui.push(SetAlignment{static_cast<Alignment>(*pressed)});
    ImGui::SameLine(0, 8 * gui.unit);
  }
  if (const auto pressed = segmented(gui, ways)) {
    const std::string_view way = ways[static_cast<std::size_t>(*pressed)].name;
    if (way != "take from a") gui.push(ShowChanges{way == "compare changes"});
    show_patch(gui, way == "take from a");
  }
  ImGui::PopStyleVar();
}

}  // namespace headlight
