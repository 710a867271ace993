#include "gui/actions/buttons.h"
#include "gui/actions/window.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/shell/shell.h"
#include "models/model_sources.h"
#include "question/tokenizers.h"
#include "session/tool_state.h"
#include "view/view_names.h"
#include "views/lesson/panel/lesson_panel.h"
#include "words/inside_words.h"
#include "words/model_words.h"
#include "words/window_words.h"

#include "words/compare_words.h"

namespace headlight {
namespace {

/// A dot in the corner of the last item while there is something that was not saved.
void unsaved_dot(const Gui& gui) {
  if (!has_unsaved_changes(gui.state)) return;
  const ImVec2 corner{ImGui::GetItemRectMax().x - 5 * gui.unit, ImGui::GetItemRectMin().y + 5 * gui.unit};
  ImGui::GetWindowDrawList()->AddCircleFilled(corner, 2.5f * gui.unit, gui.colours().text, 12);
}

/// In their order in the bar: the label and the tip of each.
constexpr std::tuple<View, Words, Words> kBarViews[] = {
    {View::heads, kWindowWords.view_heads, kWindowWords.tip_view_heads},
    {View::inside, kWindowWords.view_inside, kWindowWords.tip_view_inside},
    {View::code, kCodeWords.view_code, kCodeWords.tip_view_code},
    {View::flow, kWindowWords.view_flow, kWindowWords.tip_view_flow},
    {View::compare, kCompareWords.view_compare, kCompareWords.tip_view_compare},
    {View::train, kWindowWords.view_train, kWindowWords.tip_view_train},
    {View::study, kWindowWords.view_study, kWindowWords.tip_view_study}};

std::vector<Segment> view_segments(const Gui& gui) {
  std::vector<Segment> segments;
  for (const auto& [view, label, tip] : kBarViews)
    if (can_show(gui.state, view))
      segments.push_back({"view " + std::string(name(view)), gui.word(label), gui.state.view.view == view,
                          with_keys(gui, tip, {Act::show_compare})});
  return segments;
}

/// The views of these segments.
std::vector<View> views_in_bar(const AppState& state) {
  std::vector<View> views;
  for (const auto& row : kBarViews)
    if (can_show(state, std::get<View>(row))) views.push_back(std::get<View>(row));
  return views;
}

void share_menu(Gui& gui) {
  if (menu_button(gui, "share menu", gui.word(kWindowWords.share))) ImGui::OpenPopup("share");
  unsaved_dot(gui);
  explain_item(gui, kWindowWords.tip_share);
  if (!begin_menu_below(gui, "share")) return;
  act_line(gui, "save", kWindowWords.save, Act::save_session);
  act_line(gui, "save as", kWindowWords.save_as, Act::save_session_as);
  ImGui::Separator();
  act_line(gui, "export", kWindowWords.export_numbers, Act::export_numbers);
  act_line(gui, "figure", kWindowWords.figure, Act::make_figure);
  explain_item(gui, kWindowWords.tip_figure);
  act_line(gui, "copy command", kWindowWords.copy_command, Act::copy_command);
  ImGui::EndPopup();
}

/// Whether ids are those of transformers' class; what it decides is under the pointer.
void ids_line(Gui& gui) {
  const Document& document = gui.state.document;
  SourceParts parts = parts_of_source(document.model_path);
  const bool applied = parts.rules == ClassRules::applied;
  if (!document.tokenizers || (applied && document.tokenizers->rules.empty())) return;
  parts.rules = applied ? ClassRules::left_out : ClassRules::applied;
  if (menu_line(gui, "ids by class", gui.word(kWindowWords.ids_by_class), {}, applied))
    gui.push(OpenPath{source_of_parts(parts)});
  std::string text = gui.word(kWindowWords.tip_ids_by_class);
  for (const std::string& rule : document.tokenizers->rules) text += "\n" + rule;
  explain_item(gui, gui.fonts.shown(text));
}

/// What is seldom needed.
void more_menu(Gui& gui) {
  const bool dark = gui.state.settings.theme == Theme::dark;
  if (menu_button(gui, "more menu", gui.word(kWindowWords.more_menu))) ImGui::OpenPopup("more");
  explain_item(gui, kWindowWords.tip_more_menu);
  if (!begin_menu_below(gui, "more")) return;
  act_line(gui, "palette", action(Act::open_palette).name, Act::open_palette);
  act_line(gui, "own numbers", kNumberWords.menu, Act::own_numbers);
  act_line(gui, "help", kWindowWords.help, Act::show_keys);
  ImGui::Separator();
  act_line(gui, "language", kWindowWords.language, Act::other_language);
  act_line(gui, "theme", dark ? kWindowWords.light : kWindowWords.dark, dark ? Act::light_theme : Act::dark_theme);
  act_line(gui, "larger", kWindowWords.larger, Act::larger);
  act_line(gui, "smaller", kWindowWords.smaller, Act::smaller);
  if (menu_line(gui, "motion", gui.word(kWindowWords.motion), {}, gui.state.settings.motion)) {
    Settings settings = gui.state.settings;
    settings.motion = !settings.motion;
    gui.push(SetSettings{settings});
  }
  explain_item(gui, kWindowWords.tip_motion);
  ids_line(gui);
  ImGui::Separator();
  act_line(gui, "reset", kWindowWords.reset, Act::start_over);
  ImGui::EndPopup();
}

/// An arrow that turns back, or forth.
void turn_button(Gui& gui, const char* name, Act act, bool back) {
  const Action& one = action(act);
  const bool possible = is_possible(gui, one);
  const float size = ImGui::GetFrameHeight(), unit = gui.unit;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::BeginDisabled(!possible);
  if (ImGui::InvisibleButton(name, {size + 4 * unit, size})) perform(gui, one);
  ImGui::EndDisabled();
  gui.name_item(name);
  const bool hovered = ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled);
  if (hovered) explain_item(gui, std::string(gui.word(one.name)) + "  " + keys_of(act));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Palette& colours = gui.colours();
  const ImVec2 end{at.x + size + 4 * unit, at.y + size};
  list.AddRectFilled(at, end, hovered && possible ? colours.button_hovered : colours.background, 4 * unit);
  list.AddRect(at, end, possible ? colours.outline : colours.line, 4 * unit, 0, unit);
  const ImU32 ink = possible ? colours.text : colours.faint;
  const ImVec2 middle{(at.x + end.x) / 2, (at.y + end.y) / 2 + 2 * unit};
  const float radius = 6 * unit, way = back ? -1.0f : 1.0f;
  constexpr float kPi = 3.14159265f;
  // From one side over the top to the tip, where the arrow's head is.
  list.PathArcTo(middle, radius, -kPi, 0, 16);
  list.PathStroke(ink, 0, 1.8f * unit);
  const float tip = middle.x + way * radius;
  list.AddTriangleFilled({tip - 4.5f * unit, middle.y - unit}, {tip + 4.5f * unit, middle.y - unit},
                         {tip, middle.y + 5 * unit}, ink);
}

}  // namespace

void top_bar(Gui& gui) {
  const float top = ImGui::GetCursorPosY(), unit = gui.unit, gap = 16 * unit, close = 8 * unit;
  const float turn = ImGui::GetFrameHeight() + 4 * unit, lessons = lesson_menu_width(gui);
  const std::vector<Segment> views = view_segments(gui);
  const float left = segmented_width(views) + (lessons > 0 ? close + lessons : 0);
  const float right = 2 * turn + close / 2 + close + menu_width(gui, gui.word(kWindowWords.share)) + close +
                      button_width(gui.word(kWindowWords.open)) + close +
                      menu_width(gui, gui.word(kWindowWords.more_menu)) + ImGui::GetStyle().WindowPadding.x;
  // Where the window is small the words give way to the buttons.
  const auto has_room = [&](float width) {
    return ImGui::GetCursorPosX() + width + gap + left + gap + right <= ImGui::GetWindowWidth();
  };
  if (has_room(gui.fonts.pixels(TextSize::title) * 4.4f)) {
    // The name stands on the same base line as the smaller text beside it.
    ImGui::SetCursorPosY(top + (ImGui::GetFrameHeight() - gui.fonts.pixels(TextSize::title)) / 2 - 2 * unit);
    const FontScope title(gui, TextSize::title);
    ImGui::TextUnformatted("Headlight");
    ImGui::SameLine(0, 12 * unit);
    ImGui::SetCursorPosY(top);
  }
  if (const auto chosen = segmented(gui, views)) gui.push(ShowView{views_in_bar(gui.state)[*chosen]});
  ImGui::SameLine(0, close);
  lesson_menu(gui);
  ImGui::SameLine(std::max(ImGui::GetCursorPosX() + close, ImGui::GetWindowWidth() - right));
  turn_button(gui, "undo", Act::undo, true);
  ImGui::SameLine(0, close / 2);
  turn_button(gui, "redo", Act::redo, false);
  ImGui::SameLine(0, close);
  share_menu(gui);
  ImGui::SameLine(0, close);
  if (flat_button(gui, "open", gui.word(kWindowWords.open))) gui.push(Browse{Browser::Purpose::open, {}});
  ImGui::SameLine(0, close);
  more_menu(gui);
}

}  // namespace headlight
