#include "document/model_choice.h"
#include "gui/actions/actions.h"
#include "gui/actions/window.h"
#include "gui/frame/draw.h"
#include "gui/lesson/lesson_panel.h"
#include "gui/shell/shell.h"
#include "words/any_sentence_words.h"
#include "words/compare_words.h"
#include "words/model_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

void view_tabs(Gui& gui, float gap) {
  const View now = gui.state.view.view;
  if (flat_button(gui, "view heads", gui.word(kWindowWords.view_heads), now == View::heads))
    gui.say(ShowView{View::heads});
  explain_item(gui, kWindowWords.tip_view_heads);
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "view inside", gui.word(kWindowWords.view_inside), now == View::inside))
    gui.say(ShowView{View::inside});
  explain_item(gui, kWindowWords.tip_view_inside);
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "view flow", gui.word(kWindowWords.view_flow), now == View::flow)) gui.say(ShowView{View::flow});
  explain_item(gui, kWindowWords.tip_view_flow);
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "view train", gui.word(kWindowWords.view_train), now == View::train))
    gui.say(ShowView{View::train});
  explain_item(gui, kWindowWords.tip_view_train);
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "view compare", gui.word(kCompareWords.view_compare), now == View::compare))
    gui.say(ShowView{View::compare});
  explain_item(gui, kCompareWords.tip_view_compare, {Act::show_compare});
  ImGui::SameLine(0, 0);
  lesson_menu(gui);
  ImGui::SameLine(0, gap);
}

/// What there is room for: the first to give way have keys.
struct Shown {
  bool save_as = true, reset = true, sizes = true, figure = true;
};

void file_buttons(Gui& gui, float gap, const Shown& shown) {
  const AppState& state = gui.state;
  if (flat_button(gui, "open", gui.word(kWindowWords.open))) gui.say(Browse{Browser::Purpose::open, {}});
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "save", gui.word(kWindowWords.save), has_unsaved_changes(state))) save_session(gui);
  ImGui::SameLine(0, 0);
  if (shown.save_as) {
    if (flat_button(gui, "save as", gui.word(kWindowWords.save_as))) gui.say(Browse{Browser::Purpose::save, {}});
    ImGui::SameLine(0, 0);
  }
  if (flat_button(gui, "export", gui.word(kWindowWords.export_numbers)))
    gui.say(Browse{Browser::Purpose::export_to, {}});
  ImGui::SameLine(0, 0);
  if (shown.figure) {
    if (flat_button(gui, "figure", gui.word(kWindowWords.figure))) gui.say(Browse{Browser::Purpose::figure, {}});
    explain_item(gui, kWindowWords.tip_figure);
  }
  ImGui::SameLine(0, gap);
  ImGui::BeginDisabled(state.undo.empty() && !state.gesture);
  if (flat_button(gui, "undo", gui.word(kWindowWords.undo))) gui.say(Undo{});
  ImGui::EndDisabled();
  ImGui::SameLine(0, 0);
  ImGui::BeginDisabled(state.redo.empty());
  if (flat_button(gui, "redo", gui.word(kWindowWords.redo))) gui.say(Redo{});
  ImGui::EndDisabled();
  ImGui::SameLine(0, 0);
  if (shown.reset && flat_button(gui, "reset", gui.word(kWindowWords.reset))) gui.say_once(Reset{});
}

void person_buttons(Gui& gui, const Shown& shown) {
  const bool dark = gui.state.settings.theme == Theme::dark;
  const char* labels[] = {gui.word(kWindowWords.smaller), gui.word(kWindowWords.larger),
                          gui.word(dark ? kWindowWords.light : kWindowWords.dark), gui.word(kWindowWords.language),
                          gui.word(kWindowWords.help)};
  float width = 0;
  for (const char* label : labels) width += button_width(label);
  if (!shown.sizes) width -= button_width(labels[0]) + button_width(labels[1]);
  ImGui::SameLine(std::max(ImGui::GetCursorPosX(), ImGui::GetWindowWidth() - width - 8 * gui.unit));
  const auto change = [&](const char* name, const char* label) {
    const bool pressed = flat_button(gui, name, label);
    ImGui::SameLine(0, 0);
    return pressed;
  };
  if (shown.sizes && change("smaller", labels[0])) resize_window(gui, false);
  if (shown.sizes && change("larger", labels[1])) resize_window(gui, true);
  if (change("theme", labels[2])) switch_theme(gui);
  if (change("language", labels[3])) switch_language(gui);
  if (flat_button(gui, "help", labels[4], gui.state.view.help)) gui.say(ShowHelp{!gui.state.view.help});
}

std::string model_line(Gui& gui) {
  const Document& document = gui.state.document;
  if (is_any_sentence(document)) return gui.fonts.shown(gui.word(kAnySentenceWords.model));
  if (is_shipped(document)) return gui.fonts.shown(gui.word(kWindowWords.trained_model));
  if (document.model && document.trained)
    return gui.fonts.shown(std::string(gui.word(kWindowWords.trained_here)) + " " + document.model->name);
  if (document.model)
    return gui.fonts.shown(
        std::string(gui.word(document.model->given ? kWindowWords.tensors_model : kWindowWords.checkpoint)) + " " +
        document.model->name);
  return std::string(gui.word(kWindowWords.random_model)) + " · " + gui.word(kModelWords.seed) + " " +
         std::to_string(document.config.seed);
}

/// What a badge says at a glance: its colour, its words, and whether it is a tick.
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
      ImGui::TextUnformatted(gui.fonts.shown(finding.line).c_str());
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
    ImGui::PushStyleColor(ImGuiCol_Text, badge.colour);
    ImGui::TextUnformatted(badge.text.c_str());
    ImGui::PopStyleColor();
  }
  ImGui::EndGroup();
  gui.name_item("check");
  if (check->findings && ImGui::IsItemHovered()) findings_tooltip(gui, badge, *check->findings);
  ImGui::SameLine(0, 16 * gui.unit);
  ImGui::SetCursorPosY(top);
}

}  // namespace

void top_bar(Gui& gui) {
  const float top = ImGui::GetCursorPosY(), gap = 16 * gui.unit, close_gap = 6 * gui.unit;
  float buttons = 3 * gap, padding = 0;  // between the groups, and at the right end; inside the buttons
  for (const Words& string :
       {kWindowWords.view_heads, kWindowWords.view_inside, kWindowWords.view_flow, kWindowWords.view_train,
        kWindowWords.open, kWindowWords.save, kWindowWords.save_as, kWindowWords.export_numbers, kWindowWords.figure,
        kWindowWords.undo, kWindowWords.redo, kWindowWords.reset, kWindowWords.smaller, kWindowWords.larger,
        gui.state.settings.theme == Theme::dark ? kWindowWords.light : kWindowWords.dark, kWindowWords.language,
        kWindowWords.help})
    buttons += button_width(gui.word(string)), padding += 2 * ImGui::GetStyle().FramePadding.x;
  buttons += button_width(gui.word(kCompareWords.view_compare)), padding += 2 * ImGui::GetStyle().FramePadding.x;
  if (const float lessons = lesson_menu_width(gui); lessons > 0)
    buttons += lessons, padding += 2 * ImGui::GetStyle().FramePadding.x;
  const auto has_room = [&](float width) {
    return ImGui::GetCursorPosX() + width + gap + buttons <= ImGui::GetWindowWidth();
  };
  // Where everything is large in a small window the buttons come first, and stand closer if they must.
  const bool tight = !has_room(0);
  Shown shown;
  // By half of the padding, by closer groups, and by what gives way.
  float spared = padding / 2 + 3 * (gap - close_gap);
  const auto give_way = [&](bool& one, std::initializer_list<Words> labels) {
    if (has_room(-spared)) return;
    one = false;
    for (const Words& label : labels) spared += button_width(gui.word(label)) - ImGui::GetStyle().FramePadding.x;
  };
  give_way(shown.save_as, {kWindowWords.save_as});
  give_way(shown.reset, {kWindowWords.reset});
  give_way(shown.sizes, {kWindowWords.smaller, kWindowWords.larger});
  give_way(shown.figure, {kWindowWords.figure});
  if (tight) ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2{4 * gui.unit, ImGui::GetStyle().FramePadding.y});
  if (has_room(gui.fonts.pixels(TextSize::title) * 4.4f)) {
    // The name stands on the same base line as the smaller text beside it.
    ImGui::SetCursorPosY(top + (ImGui::GetFrameHeight() - gui.fonts.pixels(TextSize::title)) / 2 - 2 * gui.unit);
    const FontScope title(gui, TextSize::title);
    ImGui::TextUnformatted("Headlight");
    ImGui::SameLine(0, 12 * gui.unit);
    ImGui::SetCursorPosY(top);
  }
  const std::string model = model_line(gui);
  if (has_room(ImGui::CalcTextSize(model.c_str()).x)) {
    ImGui::SetCursorPosY(top + (ImGui::GetFrameHeight() - ImGui::GetFontSize()) / 2);
    ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().dim);
    ImGui::TextUnformatted(model.c_str());
    ImGui::PopStyleColor();
    if (is_any_sentence(gui.state.document)) explain_item(gui, kAnySentenceWords.tip_chosen);
    ImGui::SameLine(0, 16 * gui.unit);
    ImGui::SetCursorPosY(top);
  }
  check_badge(gui, top, has_room);
  view_tabs(gui, tight ? close_gap : gap);
  file_buttons(gui, tight ? close_gap : gap, shown);
  person_buttons(gui, shown);
  if (tight) ImGui::PopStyleVar();
}

}  // namespace headlight
