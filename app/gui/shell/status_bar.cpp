#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "figure/labels.h"
#include "figure/map_kinds.h"
#include "gui/actions/actions.h"
#include "gui/actions/question.h"
#include "gui/actions/tool_window.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/frame/map_view.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/scene.h"
#include "gui/shell/shell.h"
#include "session/answer_state.h"
#include "session/shown.h"
#include "views/compare/panel/joint_map.h"
#include "views/heads/panel/derived_maps.h"
#include "views/inside/inside_labels.h"
#include "words/grid_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

std::string notice_text(Gui& gui, const Notice& notice) {
  switch (notice.kind) {
    case Notice::Kind::opened: return std::string(gui.word(kWindowWords.opened)) + " " + notice.text;
    case Notice::Kind::saved: return std::string(gui.word(kWindowWords.saved)) + " " + notice.text;
    case Notice::Kind::exported: return std::string(gui.word(kWindowWords.exported)) + " " + notice.text;
    case Notice::Kind::changed: return notice.text;
    case Notice::Kind::copied: return std::string(gui.word(kWindowWords.copied)) + " " + notice.text;
    case Notice::Kind::restored: return gui.word(kWindowWords.restored) + notice.text;
    case Notice::Kind::failed: return plain_line(gui, notice.code, notice.text);  // all of it is under the pointer
  }
  return {};
}

/// The first line of the notice, cut so that the buttons behind it end before `right`; the number of further lines; and
/// all lines as a tooltip.
void notice_line(Gui& gui, const Notice& notice, float right) {
  std::string text = notice_text(gui, notice);
  if (text.empty() && notice.kind == Notice::Kind::changed && !gui.state.undo.empty())
    text = change_in_words(gui.state.settings.language, gui.state.undo.back(), gui.state.document);
  const std::string& all = notice.kind == Notice::Kind::failed ? notice.text : text;
  const auto more = std::ranges::count(all, '\n');
  const std::string lines = "+" + std::to_string(more) + " " + gui.word(kWindowWords.more_lines);
  ImGui::AlignTextToFramePadding();
  const bool failed = notice.kind == Notice::Kind::failed;
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  float after = gap + button_width("×");
  if (more > 0) after += gap + ImGui::CalcTextSize(lines.c_str()).x;
  if (notice.kind == Notice::Kind::changed) after += gap + button_width(gui.word(action(Act::undo).name));
  const std::string first = text.substr(0, text.find('\n'));
  const float room = std::max(40 * gui.unit, right - ImGui::GetCursorScreenPos().x - after);
  const std::string seen = cut_to(first, room, [&](const std::string& part) { return shown_width(gui, part); });
  coloured_text(failed ? gui.colours().warning : gui.colours().text, gui.fonts.shown(seen));
  gui.name_item("notice", BoxKind::label);
  if (all != seen) explain_item(gui, all);
  if (more > 0) {
    ImGui::SameLine();
    dim_text(gui, lines);
    gui.name_item("more of the notice", BoxKind::label);
    explain_item(gui, all);
  }
  ImGui::SameLine();
  if (notice.kind == Notice::Kind::changed) {
    if (flat_button(gui, "undo change", gui.word(action(Act::undo).name))) gui.push(Undo{});
    explain_item(gui, keys_of(Act::undo));
    ImGui::SameLine();
  }
  if (flat_button(gui, "dismiss", "×")) gui.push(DismissNotice{});
  ImGui::SameLine(0, 16 * gui.unit);
}

/// The question and the view: cell, head, mask, model, time.
std::string answer_text(Gui& gui) {
  const AppState& state = gui.state;
  const Trace& trace = *state.trace;
  const auto lit = state.view.hovered ? state.view.hovered : state.view.pinned;
  const HeadRef head = state.view.hovered_head.value_or(state.view.chosen);
  std::string line;
  if (state.view.view == View::compare) line = lit_joint_cell_in_words(gui);
  else if (lit) line = cell_in_words(gui, head, *lit);
  if (!line.empty()) line += "  ·  ";
  line += map_title(gui, head) +
          formatted("  ·  %s %s  ·  %d × %d", gui.word(kWindowWords.mask_is),
                    mask_title(gui.state.settings.language, trace.mask(head.stack, head.layer).kind()).c_str(),
                    static_cast<int>(trace.queries(head.stack)), static_cast<int>(trace.keys(head.stack)));
  return state.trace.milliseconds <= 0 ? line : line + formatted("  ·  %.1f ms", state.trace.milliseconds);
}

/// The scale of the maps that are shown: inside a block that of the matrix that is looked at, of two answers that of
/// their difference.
ColourScale shown_colour_scale(const AppState& state) {
  if (state.view.view == View::compare && state.view.patch.on && state.patch)
    return patch_scale(state.settings.theme, *state.patch);
  if (state.view.view == View::compare && state.comparison && compared_trace(state))
    return difference_scale(state, state.view.hovered_head.value_or(state.view.chosen));
  if (!looks_at_matrices(state.view.view) || !state.inside)
    return map_scale(state, whole_content(state, state.view.hovered_head.value_or(state.view.chosen)));
  if (state.view.view == View::inside && state.view.tab == InsideTab::lens)
    return {.theme = state.settings.theme, .colours = state.settings.colours};
  if (state.view.view == View::inside && state.view.tab == InsideTab::why && state.writers)
    return writers_scale(state.settings.theme, *state.writers);
  return picture_scale(state.settings.theme, state.inside->matrix, is_signed(state.inside->question.look.matrix));
}

/// Whether the view uses a colour scale: lines have the colours of their heads; two answers that share no word, or are
/// too long, have no difference to be coloured.
bool shows_colours(const AppState& state) {
  if (!state.trace || state.view.view == View::flow) return false;
  if (state.view.view != View::compare || !state.comparison || !compared_trace(state)) return true;
  const JointStack* stack = state.comparison->heads->stack(state.view.chosen.stack);
  return stack && !shares_no_cell(*stack);
}

/// Whether the way of the scale can be chosen: of weights, also beside their differences.
bool chooses_scale(const AppState& state) { return !looks_at_matrices(state.view.view); }
/// … and whether each map can have a separate range.
bool chooses_range(const AppState& state) { return chooses_scale(state) && state.view.view != View::flow; }

/// A click on the colours lets others be chosen, and how they reach from 0 to the largest number.
void colour_menu(Gui& gui, const Box& box) {
  const ViewState& view = gui.state.view;
  ImGui::SetCursorScreenPos({box.x, box.y});
  if (ImGui::InvisibleButton("colour bar", {box.w, box.h})) ImGui::OpenPopup("colours");
  gui.name_box("colour bar", box, BoxKind::menu);
  explain_item(gui, kGridWords.tip_colours);
  if (!begin_menu_below(gui, "colours")) return;
  if (chooses_scale(gui.state)) {
    const auto choose = [&](const char* name, const Words& label, Scale wanted) {
      if (menu_line(gui, name, gui.word(label), keys_of(Act::log_colours), scale_of_colours(gui.state) == wanted))
        gui.push(SetColourScale{wanted});
      explain_item(gui, kWindowWords.tip_colour_scale);
    };
    choose("linear", kWindowWords.linear, Scale::linear);
    choose("log", kWindowWords.logarithmic, Scale::log);
    if (chooses_range(gui.state)) {
      if (menu_line(gui, "own range", gui.word(kGridWords.own_range), keys_of(Act::own_range), view.own_range))
        gui.push(SetOwnRange{!view.own_range});
      explain_item(gui, kGridWords.tip_own_range, {Act::own_range});
      if (view.range &&
          menu_line(gui, "range", (gui.word(kGridWords.range) + range_text(*view.range)).c_str(), {}, true))
        gui.push(SetRange{std::nullopt});
    }
    ImGui::Separator();
  }
  for (int map = 0; map < kColourMaps; ++map) {
    Settings settings = gui.state.settings;
    settings.colours = static_cast<ColourMap>(map);
    const std::string line = "colours " + std::string(name(settings.colours));
    if (menu_line(gui, line.c_str(), gui.word(kGridWords.colour_words[map]), {}, settings == gui.state.settings))
      gui.push(SetSettings{settings});
  }
  ImGui::EndPopup();
}

/// The colours of the strongest heads, right-aligned; gives the x where they begin.
float head_legend(Gui& gui, const DerivedMaps& maps) {
  const Stack stack = gui.state.view.chosen.stack;
  const auto names = coloured_head_names(gui.state.settings.language, maps, stack);
  const FontScope small(gui, TextSize::small);
  const float side = ImGui::GetFontSize(), gap = 4 * gui.unit, after = 10 * gui.unit;
  float width = 0;
  for (const std::string& name : names) width += side + gap + ImGui::CalcTextSize(name.c_str()).x + after;
  const float begin = ImGui::GetWindowContentRegionMax().x - width;
  float x = ImGui::GetWindowPos().x + begin;
  const float y = std::round(ImGui::GetWindowPos().y + ImGui::GetCursorPosY() + ImGui::GetStyle().FramePadding.y);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < names.size(); ++i) {
    list.AddRectFilled({x, y}, {x + side, y + side}, to_imgui(head_colour(gui.state.settings.theme, i)));
    list.AddText({x + side + gap, y}, gui.colours().dim, names[i].c_str());
    x += side + gap + ImGui::CalcTextSize(names[i].c_str()).x + after;
  }
  return begin;
}

/// What differs from the usual scale, then the colours with their numbers and a menu's triangle, right-aligned; gives
/// the x where that begins.
float colour_bar(Gui& gui) {
  const AppState& state = gui.state;
  if (const DerivedMaps* maps = shown_maps(state, state.view.chosen.stack); maps && maps->kind == MapKind::strongest)
    return head_legend(gui, *maps);
  const ColourScale scale = shown_colour_scale(state);
  const float unit = gui.unit, width = 200 * unit, height = 8 * unit, triangle = 18 * unit;
  const FontScope small(gui, TextSize::small);
  const float right = ImGui::GetWindowContentRegionMax().x, top = ImGui::GetCursorPosY();
  const float begin = right - width - triangle;
  const ImVec2 window = ImGui::GetWindowPos();
  const Box ramp{window.x + begin, window.y + top + 2 * unit, width, height};
  paint_ramp(gui, *ImGui::GetWindowDrawList(), {ramp, scale});
  colour_menu(gui, {ramp.x, ramp.y, width + triangle, 3 * height});
  const float x = ramp.right() + triangle - 5 * unit, y = ramp.y + height / 2, half = 4 * unit;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddTriangleFilled({x - half, y - half / 2}, {x + half, y - half / 2}, {x, y + half / 2 + unit},
                         gui.colours().text);
  if (!chooses_scale(state)) return begin;
  const MapKind kind = shown_kind(state, state.view.chosen.stack);
  std::string words = kind == MapKind::weights ? "" : number_title(state.settings.language, kind);
  const auto add = [&](const Words& more) { words += (words.empty() ? "" : " · ") + std::string(gui.word(more)); };
  if (scale_of_colours(state) == Scale::log) add(kWindowWords.logarithmic);
  if ((state.view.own_range || shown_grids(state)) && !state.view.range && chooses_range(state))
    add(kGridWords.own_range);
  const float room = words.empty() ? 0 : ImGui::CalcTextSize(words.c_str()).x + 12 * unit;
  list.AddText({std::round(ramp.x - room), std::round(y - ImGui::GetFontSize() / 2)}, gui.colours().dim, words.c_str());
  return begin - room;
}

/// How far the work on files is, left of the colours; gives the x where that begins.
float files_at_work(Gui& gui, ImVec2 right) {
  const float width = 220 * gui.unit, gap = ImGui::GetStyle().ItemSpacing.x;
  const float begin = right.x - 12 * gui.unit - width - gap - button_width(gui.word(kWindowWords.cancel));
  ImGui::SetCursorPos({begin, right.y});
  ImGui::ProgressBar(gui.work.writing_progress, {width, 0}, gui.word(kWindowWords.writing));
  ImGui::SameLine();
  if (flat_button(gui, "cancel", gui.word(kWindowWords.cancel))) gui.push(CancelFileWork{});
  return begin;
}

}  // namespace

void status_bar(Gui& gui) {
  const AppState& state = gui.state;
  const FontScope small(gui, TextSize::small);
  const ImVec2 start = ImGui::GetCursorPos();
  float bar = shows_colours(state) ? colour_bar(gui) : ImGui::GetWindowContentRegionMax().x;
  if (gui.work.writing) bar = files_at_work(gui, {bar, start.y});
  ImGui::SetCursorPos(start);
  ImGui::PushClipRect(ImGui::GetWindowPos(), {ImGui::GetWindowPos().x + bar - 12 * gui.unit, 1e6f}, true);
  for (const Tool* tool : tools())
    if (tool->window && tool->window->status) tool->window->status(gui);
  if (state.notice) notice_line(gui, *state.notice, ImGui::GetWindowPos().x + bar - 12 * gui.unit);
  if (state.trace && answer_state(state).kind == AnswerState::Kind::shown) {
    ImGui::AlignTextToFramePadding();
    coloured_text(gui.colours().dim, answer_text(gui));
  }
  ImGui::PopClipRect();
}

}  // namespace headlight
