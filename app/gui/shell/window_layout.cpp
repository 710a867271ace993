#include <algorithm>
#include <cmath>

#include "derived/answer_comparison.h"
#include "gui/actions/actions.h"
#include "gui/compare/compare.h"
#include "gui/flow/flow.h"
#include "gui/frame/imgui_compat.h"
#include "gui/heads/heads.h"
#include "gui/inside/inside.h"
#include "gui/lesson/lesson_panel.h"
#include "gui/question/question.h"
#include "gui/shell/shell.h"
#include "gui/train/train.h"
#include "session/shown.h"
#include "words/words.h"

namespace headlight {
namespace {

constexpr ImGuiWindowFlags kFixed = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                                    ImGuiWindowFlags_NoNavInputs |  // the Tab key has a meaning of its own
                                    // A panel that comes and goes with the answer must not take the keyboard away.
                                    ImGuiWindowFlags_NoFocusOnAppearing;

/// A region of the window for one panel. Behind those that are not shaded the frame was cleared to their background:
/// where the processor draws, filling the window a second time takes longer than all that stands in it.
void region(Gui& gui, const char* name, const Box& box, bool shaded, bool scrolls, void (*panel)(Gui&)) {
  ImGui::SetNextWindowPos({box.x, box.y});
  ImGui::SetNextWindowSize({box.w, box.h});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, shaded ? gui.colours().panel : 0);
  ImGui::Begin(name, nullptr,
               scrolls ? kFixed & ~ImGuiWindowFlags_NoScrollbar : kFixed | ImGuiWindowFlags_NoScrollWithMouse);
  panel(gui);
  ImGui::End();
  ImGui::PopStyleColor();
  gui.name_box(name, box);
}

/// What A and B are above the difference of every head, and the chosen one in both beside it.
void compare_regions(Gui& gui, const Box& box) {
  const float line = ImGui::GetFrameHeight();
  if (!compared_trace(gui.state)) return region(gui, "compare", box, false, false, compare_start_panel);
  const float header = 2 * line + 10 * gui.unit;
  const float grid = std::floor(box.w * 0.4f);
  region(gui, "compare", {box.x, box.y, box.w, header}, false, false, compare_header_panel);
  region(gui, "differences", {box.x, box.y + header, grid, box.h - header}, false, false, compare_grid_panel);
  region(gui, "compared head", {box.x + grid, box.y + header, box.w - grid, box.h - header}, false, false,
         compare_maps_panel);
}

}  // namespace

std::string window_characters() { return all_words() + all_action_words(); }

void draw_window(Gui& gui) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float unit = gui.unit, line = ImGui::GetFrameHeight();
  const float bar = line + 14 * unit, status = line + 16 * unit;
  const Document& document = gui.state.document;
  std::ptrdiff_t newlines = 0;
  for (const std::string* text : {&document.source.text, &document.target.text, &document.text_pair})
    newlines = std::max(newlines, std::count(text->begin(), text->end(), '\n'));
  const float text_lines = static_cast<float>(std::min<std::ptrdiff_t>(newlines, 2)) * ImGui::GetTextLineHeight();
  const float sentence = (has_own_inputs(document) ? 0 : line + text_lines + 6 * unit) + line + 22 * unit;
  const float controls = 204 * unit;
  const float lesson = lesson_height(gui, display.x);
  const float middle = display.y - bar - sentence - lesson - status;
  // The large head has a third of the width; more where the window is high enough for a larger map.
  const float beside = display.x - controls;
  const float share = std::max(beside * 0.335f, std::min(beside * 0.42f, middle - 280 * unit));
  const float large = std::min(std::clamp(share, 340 * unit, 760 * unit), beside * 0.5f);

  // A list that is open has the keys, also the one that closes it.
  const bool list_open = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId);
  // What is under the pointer is told anew in every frame.
  if (gui.state.view.hovered || gui.state.view.hovered_head || gui.state.view.hovered_kept) gui.say(Hover{});
  region(gui, "top bar", {0, 0, display.x, bar}, true, false, top_bar);
  region(gui, "sentence", {0, bar, display.x, sentence}, false, false, sentence_panel);
  if (lesson > 0) region(gui, "lesson", {0, bar + sentence, display.x, lesson}, true, false, lesson_panel);
  const float top = bar + sentence + lesson;
  region(gui, "controls", {0, top, controls, middle}, false, true, controls_panel);
  if (gui.state.view.view == View::inside) {
    const float way = std::clamp((display.x - controls) * 0.4f, 320 * unit, 720 * unit);
    region(gui, "way", {controls, top, way, middle}, false, false, way_panel);
    region(gui, "inside", {controls + way, top, display.x - controls - way, middle}, false, false, matrix_panel);
  } else if (gui.state.view.view == View::flow) {
    region(gui, "flow", {controls, top, display.x - controls, middle}, false, false, flow_panel);
  } else if (gui.state.view.view == View::compare) {
    compare_regions(gui, {controls, top, display.x - controls, middle});
  } else {
    const float words = shows_words(gui.state) ? 2 * line + 30 * unit : 0;
    const float heads = display.x - controls - large;
    region(gui, "all heads", {controls, top, heads, middle - words}, false, false, grid_panel);
    if (words > 0) region(gui, "words", {controls, top + middle - words, heads, words}, false, false, words_panel);
    const Box right{display.x - large, top, large, middle};
    if (gui.state.view.view == View::train) region(gui, "train", right, false, true, train_panel);
    else region(gui, "large head", right, false, false, head_panel);
  }
  region(gui, "status", {0, display.y - status, display.x, status}, true, false, status_bar);
  browser_panel(gui);
  palette_panel(gui);
  help_overlay(gui);
  if (!list_open) shortcuts(gui);
}

}  // namespace headlight
