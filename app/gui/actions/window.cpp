#include "gui/actions/window.h"

#include <algorithm>
#include <functional>

#include "base/formatted.h"
#include "figure/head_name.h"
#include "gui/actions/look.h"
#include "gui/actions/possible.h"
#include "session/shown.h"

namespace headlight {
namespace {

void change_settings(Gui& gui, const std::function<void(Settings&)>& change) {
  Settings settings = gui.state.settings;
  change(settings);
  if (!(settings == gui.state.settings)) gui.push(SetSettings{std::move(settings)});
}

}  // namespace

void switch_theme(Gui& gui) {
  change_settings(
      gui, [](Settings& settings) { settings.theme = settings.theme == Theme::dark ? Theme::light : Theme::dark; });
}

void switch_language(Gui& gui) {
  change_settings(gui, [](Settings& settings) {
    settings.language = settings.language == Language::zh ? Language::en : Language::zh;
  });
}

void resize_window(Gui& gui, bool larger) {
  change_settings(gui, [larger](Settings& settings) {
    settings.ui_scale = std::clamp(settings.ui_scale + (larger ? 0.1f : -0.1f), kLeastUiScale, kMostUiScale);
  });
}

void choose_colours(Gui& gui, ColourMap colours) {
  change_settings(gui, [colours](Settings& settings) { settings.colours = colours; });
}

void copy_as_command(Gui& gui, CommandGives gives) {
  auto words = command_words(gui.state, gives);
  if (!words) return gui.push(FileFailed{words.error()});
  const std::string line = shell_line(*words);
  ImGui::SetClipboardText(line.c_str());
  gui.push(Copied{line});
}

void copy_weight(Gui& gui) {
  const AppState& state = gui.state;
  const HeadRef& head = state.view.chosen;
  const CellRef cell = *state.view.pinned;
  const DerivedMaps* maps = shown_maps(state, head.stack);
  const float number = maps ? (*maps->map(head))(cell.query, cell.key)
                            : cell_of(*state.trace, head, cell, shown_fold(state, head.stack)).weight;
  const std::string text = shortest_text(std::max(0.0f, number));  // −1: blocked
  ImGui::SetClipboardText(text.c_str());
  gui.push(Copied{text});
}

void copy_program(Gui& gui) {
  const Listing* listing = gui.state.listing.get();
  if (!listing || listing->lines.empty()) return;
  Program program;
  program.lines = listing->lines;
  ImGui::SetClipboardText(program_text(program).c_str());
  gui.push(Copied{listing->lines.front().text});
}

void save_session(Gui& gui) {
  if (gui.state.session_path.empty()) gui.push(Browse{Browser::Purpose::save, {}});
  else gui.push(SaveSession{gui.state.session_path});
}

void leave(Gui& gui) {
  const AppState& state = gui.state;
  if (state.view.help) gui.push(ShowHelp{false});
  else if (state.browser.purpose != Browser::Purpose::none) gui.push(Browse{});
  else if (state.view.numbers) gui.push(ShowNumbers{});
  else if (gui.work.writing) gui.push(CancelFileWork{});
  else if (state.generation) gui.push(StopGenerating{});
  else if (state.view.painting) gui.push(SetPainting{false});
  else if (gui.work.sweeping) gui.push(OrderHeads{});
  else if (possible::in_patch(gui) && state.patch && !state.patch->is_whole() && !state.view.patch.stopped)
    show_patch(gui, true, true);
  else if (state.view.find.on)
    gui.push(FindHeads{{.on = false, .words = state.view.find.words, .above = state.view.find.above}});
  else if (state.view.pinned || state.view.pinned_kept) gui.push(Pin{});
  else if (state.notice) gui.push(DismissNotice{});
}

}  // namespace headlight
