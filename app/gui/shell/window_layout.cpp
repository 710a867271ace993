#include <algorithm>
#include <cmath>

#include "derived/answer_comparison.h"
#include "gui/actions/actions.h"
#include "gui/actions/tool_window.h"
#include "gui/frame/focus.h"
#include "gui/frame/imgui_compat.h"
#include "gui/question/chat_turns.h"
#include "gui/question/question.h"
#include "gui/shell/shell.h"
#include "session/answer_state.h"
#include "session/shown.h"
#include "session/tool_state.h"
#include "views/compare/panel/compare.h"
#include "views/flow/panel/flow.h"
#include "views/heads/panel/heads.h"
#include "views/inside/panel/inside.h"
#include "views/lesson/panel/lesson_panel.h"
#include "words/words.h"

namespace headlight {
namespace {

// Pixels of the design.
constexpr float kTopBar = 44, kSentence = 44, kWords = 36, kRow = 34, kStatus = 28;

constexpr ImGuiWindowFlags kFixed = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                                    ImGuiWindowFlags_NoNavInputs |  // the Tab key is handled in focus.h
                                    // A panel that comes and goes with the answer must not take the keyboard away.
                                    ImGuiWindowFlags_NoFocusOnAppearing;

/// A region of the window for one panel. Behind those that are not shaded the frame was cleared to their background:
/// where the processor draws, filling the window a second time takes longer than all that stands in it.
void region(Gui& gui, const char* name, const Box& box, bool shaded, bool scrolls, void (*panel)(Gui&),
            BoxKind kind = BoxKind::none) {
  ImGui::SetNextWindowPos({box.x, box.y});
  ImGui::SetNextWindowSize({box.w, box.h});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, shaded ? gui.colours().panel : 0);
  ImGui::Begin(name, nullptr,
               scrolls ? kFixed & ~ImGuiWindowFlags_NoScrollbar : kFixed | ImGuiWindowFlags_NoScrollWithMouse);
  panel(gui);
  if (kind != BoxKind::none) gui.name_box(name, box, kind);
  ImGui::End();
  ImGui::PopStyleColor();
  if (kind == BoxKind::none) gui.name_box(name, box);
}

/// At the top what A and B are; then the maps of the chosen head in A, in B and of their difference; below these the
/// difference of every head, and beside it the next words of both answers.
void compare_regions(Gui& gui, const Box& box) {
  const float line = ImGui::GetFrameHeight();
  if (!compared_trace(gui.state)) return region(gui, "compare", box, false, false, compare_start_panel);
  const float header = 2 * line + 10 * gui.unit;
  const float room = box.h - header, high = std::max(room * 0.66f, std::min(room * 0.72f, 225 * gui.unit));
  const float maps = std::floor(std::min(box.w / 3 + 3 * line, high));
  const float words = std::min(box.w * 0.3f, 300 * gui.unit), top = box.y + header + maps;
  region(gui, "compare", {box.x, box.y, box.w, header}, false, false, compare_header_panel);
  if (gui.state.view.patch.on) {
    region(gui, "what A restores", {box.x, box.y + header, box.w - words, box.h - header}, false, false, patch_panel);
    return region(gui, "both answers", {box.right() - words, box.y + header, words, box.h - header}, false, true,
                  compare_words_panel);
  }
  region(gui, "compared head", {box.x, box.y + header, box.w, maps}, false, false, compare_maps_panel);
  region(gui, "differences", {box.x, top, box.w - words, box.bottom() - top}, false, false, compare_grid_panel);
  region(gui, "both answers", {box.right() - words, top, words, box.bottom() - top}, false, true, compare_words_panel);
}

/// The boxes of the parts of the window. They follow from its size alone, so that nothing moves with the content.
struct WindowRegions {
  Box top_bar, sentence, lesson, view, status;
};

WindowRegions window_regions(Gui& gui, const Box& window) {
  const float unit = gui.unit;
  const Document& document = gui.state.document;
  std::ptrdiff_t newlines = 0;
  for (const std::string* text : {&document.source.text, &document.target.text, &document.text_pair})
    newlines = std::max(newlines, std::ranges::count(*text, '\n'));
  const float more_lines = static_cast<float>(std::min<std::ptrdiff_t>(newlines, 2)) * ImGui::GetTextLineHeight();
  const float more_turns = reads_chat(document) ? chat_height(gui) - ImGui::GetFrameHeightWithSpacing() : more_lines;
  const float above = ImGui::GetStyle().WindowPadding.y;  // where there is no text, a row more
  const float text = has_own_inputs(document) ? above : kSentence * unit + more_turns;
  const float words = has_chips(gui.state) ? kWords * unit : 0;
  WindowRegions regions;
  regions.top_bar = {0, 0, window.w, kTopBar * unit};
  regions.sentence = {0, regions.top_bar.h, window.w, text + words + kRow * unit};
  regions.status = {0, window.h - kStatus * unit, window.w, kStatus * unit};
  const float top = regions.sentence.bottom();
  regions.lesson = {0, top, lesson_width(gui), regions.status.y - top};
  const float left = regions.lesson.w;
  regions.view = {left, top, window.w - left, regions.status.y - top};
  return regions;
}

/// The stage, and the atlas beside it.
std::pair<Box, Box> heads_boxes(const Gui& gui, const Box& view) {
  constexpr float kSide = 16, kWide = 1400, kShare = 0.565f, kNarrow = 0.6f;
  const float share = view.w >= kWide * gui.unit ? kShare : kNarrow;
  const float stage = std::round(kSide * gui.unit + share * (view.w - 2 * kSide * gui.unit));
  return {{view.x, view.y, stage, view.h}, {view.x + stage, view.y, view.w - stage, view.h}};
}

void view_regions(Gui& gui, const WindowRegions& regions) {
  const Box& box = regions.view;
  const float unit = gui.unit;
  const auto left = [&](float width) { return Box{box.x, box.y, width, box.h}; };
  const auto right = [&](float width) { return Box{box.x + width, box.y, box.w - width, box.h}; };
  switch (gui.state.view.view) {
    case View::heads: {
      // A card has all of the room.
      if (answer_state(gui.state).kind != AnswerState::Kind::shown)
        return region(gui, "stage", box, false, false, stage_panel, BoxKind::stage);
      const auto [stage, atlas] = heads_boxes(gui, box);
      region(gui, "stage", stage, false, false, stage_panel, BoxKind::stage);
      return region(gui, "atlas", atlas, false, false, atlas_panel, BoxKind::atlas);
    }
    case View::train: {
      const float panel = std::clamp(box.w * 0.4f, 340 * unit, 720 * unit);
      region(gui, "atlas", left(box.w - panel), false, false, atlas_panel);
      return region(gui, "train", right(box.w - panel), false, true, filling(View::train)->window->view);
    }
    case View::study: return region(gui, "study", box, false, true, filling(View::study)->window->view);
    case View::inside: {
      const float way = std::clamp(box.w * 0.4f, 320 * unit, 720 * unit);
      region(gui, "way", left(way), false, false, way_panel);
      const InsideTab tab = gui.state.view.tab;
      const auto panel = tab == InsideTab::why ? writers_panel : tab == InsideTab::lens ? lens_panel : matrix_panel;
      return region(gui, "inside", right(way), false, false, panel);
    }
    case View::code: {
      const float program = std::floor(box.w * 0.58f);
      region(gui, "code", left(program), false, false, code_panel);
      return region(gui, "inside", right(program), false, false, matrix_panel);
    }
    case View::flow: return region(gui, "flow", box, false, false, flow_panel);
    case View::compare: return compare_regions(gui, box);
  }
}

}  // namespace

std::string window_characters() {
  std::string all = all_words() + all_keys();
  for (const Tool* tool : tools())
    if (tool->words) all += tool->words();
  std::erase(all, '\n');  // the lines of the tables' files
  return all;
}

void draw_window(Gui& gui) {
  std::vector<FocusStop> stops;
  gui.stops = &stops;
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const WindowRegions regions = window_regions(gui, {0, 0, display.x, display.y});
  if (gui.state.view.view == View::heads && answer_state(gui.state).kind == AnswerState::Kind::shown) {
    const auto [stage, atlas] = heads_boxes(gui, regions.view);
    gui.kept_clear = {headline_and_scene(gui, stage), maps_of_atlas(gui, atlas)};
  }
  // A list that is open has the keys, also the one that closes it.
  const bool modified = ImGui::GetIO().KeyCtrl || ImGui::GetIO().KeyAlt;
  const bool list_open = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId) && !(modified && only_controls_open());
  // The cell under the pointer is set anew in every frame.
  if (gui.state.view.hovered || gui.state.view.hovered_head || gui.state.view.hovered_kept) gui.push(Hover{});
  region(gui, "top bar", regions.top_bar, true, false, top_bar);
  region(gui, "sentence", regions.sentence, false, false, sentence_panel);
  if (regions.lesson.w > 0) region(gui, "lesson", regions.lesson, true, true, lesson_panel);
  view_regions(gui, regions);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2{ImGui::GetStyle().WindowPadding.x, 2 * gui.unit});
  region(gui, "status", regions.status, true, false, status_bar);
  ImGui::PopStyleVar();
  browser_panel(gui);
  numbers_panel(gui);
  palette_panel(gui);
  help_overlay(gui);
  if (!walk_focus(gui) && !list_open) shortcuts(gui);
  gui.stops = nullptr;
}

}  // namespace headlight
