#include "gui/draw.h"
#include "gui/panels.h"

namespace headlight {
namespace {

void view_tabs(Gui& gui) {
  const View now = gui.state.view.view;
  if (flat_button(gui, "view heads", gui.word(Str::view_heads), now == View::heads)) gui.say(ShowView{View::heads});
  explain_item(gui, Str::tip_view_heads);
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "view inside", gui.word(Str::view_inside), now == View::inside)) gui.say(ShowView{View::inside});
  explain_item(gui, Str::tip_view_inside);
  ImGui::SameLine(0, 16 * gui.unit);
}

void file_buttons(Gui& gui, bool roomy) {
  const AppState& state = gui.state;
  if (flat_button(gui, "open", gui.word(Str::open))) gui.say(Browse{Browser::Purpose::open, {}});
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "save", gui.word(Str::save), has_unsaved_changes(state))) {
    if (state.session_path.empty()) gui.say(Browse{Browser::Purpose::save, {}});
    else gui.say(SaveSession{state.session_path});
  }
  ImGui::SameLine(0, 0);
  if (roomy) {  // else by its key
    if (flat_button(gui, "save as", gui.word(Str::save_as))) gui.say(Browse{Browser::Purpose::save, {}});
    ImGui::SameLine(0, 0);
  }
  if (flat_button(gui, "export", gui.word(Str::export_numbers))) gui.say(Browse{Browser::Purpose::export_to, {}});
  ImGui::SameLine(0, 16 * gui.unit);
  ImGui::BeginDisabled(state.undo.empty() && !state.gesture);
  if (flat_button(gui, "undo", gui.word(Str::undo))) gui.say(Undo{});
  ImGui::EndDisabled();
  ImGui::SameLine(0, 0);
  ImGui::BeginDisabled(state.redo.empty());
  if (flat_button(gui, "redo", gui.word(Str::redo))) gui.say(Redo{});
  ImGui::EndDisabled();
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "reset", gui.word(Str::reset))) gui.say_once(Reset{});
}

float button_width(const char* label) {
  return ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x;
}

void person_buttons(Gui& gui) {
  Settings settings = gui.state.settings;
  const bool dark = settings.theme == Theme::dark;
  const char* labels[] = {gui.word(Str::smaller), gui.word(Str::larger), gui.word(dark ? Str::light : Str::dark),
                          gui.word(Str::language), gui.word(Str::help)};
  float width = 0;
  for (const char* label : labels) width += button_width(label);
  ImGui::SameLine(std::max(ImGui::GetCursorPosX(), ImGui::GetWindowWidth() - width - 8 * gui.unit));
  const auto change = [&](const char* name, const char* label) {
    const bool pressed = flat_button(gui, name, label);
    ImGui::SameLine(0, 0);
    return pressed;
  };
  if (change("smaller", labels[0])) settings.ui_scale = std::max(kLeastUiScale, settings.ui_scale - 0.1f);
  if (change("larger", labels[1])) settings.ui_scale = std::min(kMostUiScale, settings.ui_scale + 0.1f);
  if (change("theme", labels[2])) settings.theme = dark ? Theme::light : Theme::dark;
  if (change("language", labels[3])) settings.language = gui.chinese() ? Language::en : Language::zh;
  if (!(settings == gui.state.settings)) gui.say(SetSettings{settings});
  if (flat_button(gui, "help", labels[4], gui.state.view.help)) gui.say(ShowHelp{!gui.state.view.help});
}

std::string model_line(Gui& gui) {
  const Document& document = gui.state.document;
  if (document.model)
    return gui.fonts.shown(std::string(gui.word(document.model->given ? Str::tensors_model : Str::checkpoint)) + " " +
                           document.model->name);
  return std::string(gui.word(Str::random_model)) + " · " + gui.word(Str::seed) + " " + std::to_string(document.config.seed);
}

}  // namespace

void top_bar(Gui& gui) {
  const float top = ImGui::GetCursorPosY(), gap = 16 * gui.unit;
  float buttons = 3 * gap;  // between the groups, and at the right end
  for (const Str string : {Str::view_heads, Str::view_inside, Str::open, Str::save, Str::save_as, Str::export_numbers, Str::undo, Str::redo, Str::reset,
                           Str::smaller, Str::larger, gui.state.settings.theme == Theme::dark ? Str::light : Str::dark,
                           Str::language, Str::help})
    buttons += button_width(gui.word(string));
  const auto has_room = [&](float width) {
    return ImGui::GetCursorPosX() + width + gap + buttons <= ImGui::GetWindowWidth();
  };
  // Where everything is large in a small window the buttons come first, and stand closer if they must.
  const bool tight = !has_room(0);
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
    ImGui::SameLine(0, 16 * gui.unit);
    ImGui::SetCursorPosY(top);
  }
  view_tabs(gui);
  file_buttons(gui, !tight);
  person_buttons(gui);
  if (tight) ImGui::PopStyleVar();
}

}  // namespace headlight
