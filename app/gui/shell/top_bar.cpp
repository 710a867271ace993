#include "document/model_choice.h"
#include "figure/labels.h"
#include "gui/actions/actions.h"
#include "gui/actions/window.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/lesson/lesson_panel.h"
#include "gui/shell/shell.h"
#include "read/external/page_text.h"
#include "words/code_words.h"
#include "words/compare_words.h"
#include "words/failure_words.h"
#include "words/model_words.h"
#include "words/sentence_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

/// `Share`, with a dot while there is something that was not saved.
std::string share_label(const Gui& gui) {
  return std::string(gui.word(kWindowWords.share)) + (has_unsaved_changes(gui.state) ? " •" : "");
}

std::vector<Segment> view_segments(const Gui& gui) {
  const View now = gui.state.view.view;
  return {
      {"view heads", gui.word(kWindowWords.view_heads), now == View::heads, gui.word(kWindowWords.tip_view_heads)},
      {"view inside", gui.word(kWindowWords.view_inside), now == View::inside, gui.word(kWindowWords.tip_view_inside)},
      {"view code", gui.word(kCodeWords.view_code), now == View::code, gui.word(kCodeWords.tip_view_code)},
      {"view flow", gui.word(kWindowWords.view_flow), now == View::flow, gui.word(kWindowWords.tip_view_flow)},
      {"view compare", gui.word(kCompareWords.view_compare), now == View::compare,
       with_keys(gui, kCompareWords.tip_view_compare, {Act::show_compare})},
      {"view train", gui.word(kWindowWords.view_train), now == View::train, gui.word(kWindowWords.tip_view_train)}};
}
constexpr View kSegmentViews[] = {View::heads, View::inside, View::code, View::flow, View::compare, View::train};

/// A line of a menu that does what a row of the table of actions does.
void act_line(Gui& gui, const char* name, const Words& label, Act act) {
  const Action& one = action(act);
  if (menu_line(gui, name, gui.word(label), keys_of(act), false, is_possible(gui, one))) perform(gui, one);
}

void share_menu(Gui& gui) {
  if (menu_button(gui, "share menu", share_label(gui).c_str())) ImGui::OpenPopup("share");
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

/// Three dots: what is seldom needed.
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

std::string model_line(Gui& gui) {
  const Document& document = gui.state.document;
  if (is_any_sentence(document)) return gui.fonts.shown(gui.word(kAnySentenceWords.model));
  if (is_shipped(document)) return gui.fonts.shown(gui.word(kWindowWords.trained_model));
  if (document.model && document.trained)
    return gui.fonts.shown(std::string(gui.word(kWindowWords.trained_here)) + " " +
                           model_name_in(gui.state.settings.language, document.model->name));
  if (document.model && document.numbers)
    return document.model_path.starts_with(kNumbersSource) ? gui.word(kNumberWords.title)
                                                           : gui.fonts.shown(document.model->name);
  const Words& kind = !document.model || !document.model->given ? kWindowWords.checkpoint
                      : names_page(document.model_path)         ? kFileWords.page
                                                                : kWindowWords.tensors_model;
  if (document.model) return gui.fonts.shown(std::string(gui.word(kind)) + " " + document.model->name);
  return std::string(gui.word(kWindowWords.random_model)) + " · " + gui.word(kModelWords.seed) + " " +
         std::to_string(document.config.seed);
}

/// The contents of a badge: its colour, its words, and whether it is a tick.
struct Badge {
  ImU32 colour;
  std::string text;
  bool tick = false;
};

ImU32 mark_colour(const Gui& gui, Severity severity) {
  const bool dark = gui.state.settings.theme == Theme::dark;
  switch (severity) {
    case Severity::good: return dark ? IM_COL32(110, 201, 128, 255) : IM_COL32(30, 126, 52, 255);
    case Severity::note: return gui.colours().dim;
    case Severity::warning: return gui.colours().caution;
    case Severity::error: return gui.colours().warning;
  }
  return gui.colours().text;
}

Badge badge_of(Gui& gui, const ModelCheck& check) {
  if (!check.findings) return {gui.colours().faint, gui.word(kWindowWords.check_running)};
  const Severity worst = gravest(*check.findings);
  if (worst <= Severity::note && agrees_with_reference(*check.findings))
    return {mark_colour(gui, Severity::good), gui.word(kWindowWords.check_agrees), true};
  if (worst <= Severity::note) return {mark_colour(gui, Severity::note), gui.word(kWindowWords.check_passed), true};
  return {mark_colour(gui, worst),
          gui.word(worst == Severity::warning ? kWindowWords.check_doubtful : kWindowWords.check_wrong)};
}

/// A tick, or a filled circle with a stroke in it, in a square of the text's height.
void draw_mark(const Gui& gui, ImVec2 at, float size, ImU32 colour, bool tick) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (tick) {
    const ImVec2 points[] = {{at.x + 0.15f * size, at.y + 0.55f * size},
                             {at.x + 0.4f * size, at.y + 0.8f * size},
                             {at.x + 0.85f * size, at.y + 0.25f * size}};
    list.AddPolyline(points, 3, colour, 0, 2 * gui.unit);
    return;
  }
  const ImVec2 middle{at.x + size / 2, at.y + size / 2};
  list.AddCircleFilled(middle, 0.36f * size, colour);
  list.AddLine({middle.x, middle.y - 0.2f * size}, {middle.x, middle.y + 0.06f * size}, gui.colours().panel,
               1.5f * gui.unit);
  list.AddCircleFilled({middle.x, middle.y + 0.19f * size}, gui.unit, gui.colours().panel);
}

/// All that was found, the gravest first.
void findings_tooltip(Gui& gui, const Badge& badge, const std::vector<Finding>& findings) {
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(560 * gui.unit);
  ImGui::TextUnformatted(badge.text.c_str());
  for (const Severity severity : {Severity::error, Severity::warning, Severity::note, Severity::good})
    for (const Finding& finding : findings) {
      if (finding.severity != severity) continue;
      const float size = ImGui::GetTextLineHeight();
      draw_mark(gui, ImGui::GetCursorScreenPos(), size, mark_colour(gui, severity), severity <= Severity::note);
      ImGui::Dummy({size, size});
      ImGui::SameLine();
      if (!gui.chinese()) {
        ImGui::TextUnformatted(gui.fonts.shown(finding.line).c_str());
        continue;
      }
      ImGui::BeginGroup();
      ImGui::TextUnformatted(gui.fonts.shown(gui.word(failure_words(finding.code))).c_str());
      dim_text(gui, gui.fonts.shown(finding.line));
      ImGui::EndGroup();
    }
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

/// Whether the checkpoint was loaded right; without its words where there is no room for them.
template <class HasRoom>
void check_badge(Gui& gui, float top, const HasRoom& has_room) {
  const ModelCheck* check = check_of_model(gui.state);
  const float size = ImGui::GetTextLineHeight();
  if (!check || !has_room(size)) return;
  const Badge badge = badge_of(gui, *check);
  const float y = top + (ImGui::GetFrameHeight() - size) / 2;
  ImGui::SetCursorPosY(y);
  ImGui::BeginGroup();
  if (check->findings) {
    draw_mark(gui, ImGui::GetCursorScreenPos(), size, badge.colour, badge.tick);
    ImGui::Dummy({size, size});
    ImGui::SameLine(0, 4 * gui.unit);
  }
  if (has_room(ImGui::CalcTextSize(badge.text.c_str()).x)) {
    ImGui::SetCursorPosY(y);
    coloured_text(badge.colour, badge.text);
  }
  ImGui::EndGroup();
  gui.name_item("check", BoxKind::label);
  if (check->findings && ImGui::IsItemHovered()) findings_tooltip(gui, badge, *check->findings);
  ImGui::SameLine(0, 16 * gui.unit);
  ImGui::SetCursorPosY(top);
}

}  // namespace

void top_bar(Gui& gui) {
  const float top = ImGui::GetCursorPosY(), unit = gui.unit, gap = 16 * unit, close = 8 * unit;
  const float turn = ImGui::GetFrameHeight() + 4 * unit, lessons = lesson_menu_width(gui);
  const std::vector<Segment> views = view_segments(gui);
  const float left = segmented_width(views) + (lessons > 0 ? close + lessons : 0);
  const float right = 2 * turn + close / 2 + close + menu_width(gui, share_label(gui).c_str()) + close +
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
  const std::string model = model_line(gui);
  if (has_room(ImGui::CalcTextSize(model.c_str()).x)) {
    ImGui::SetCursorPosY(top + (ImGui::GetFrameHeight() - ImGui::GetFontSize()) / 2);
    coloured_text(gui.colours().dim, model);
    if (is_any_sentence(gui.state.document)) explain_item(gui, kAnySentenceWords.tip_chosen);
    gui.name_item("model line", BoxKind::label);
    ImGui::SameLine(0, gap);
    ImGui::SetCursorPosY(top);
  }
  check_badge(gui, top, has_room);
  if (const auto chosen = segmented(gui, views)) gui.push(ShowView{kSegmentViews[*chosen]});
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
