#include <algorithm>

#include "base/utf8.h"
#include "gui/actions/actions.h"
#include "gui/actions/question.h"
#include "gui/question/text_boxes.h"
#include "gui/shell/shell.h"

namespace headlight {
namespace {

/// Whether a text box that is being typed in uses these keys for its text.
bool is_of_text(const Action& action, const Chord& chord) {
  if (!chord.ctrl && !chord.alt) return true;
  return action.id == Act::undo || action.id == Act::copy_weight || action.id == Act::redo ||
         chord.key == Key::backspace || chord.key == Key::home;
}

/// A letter of any script: no sign that is a shortcut.
bool is_letter(ImWchar character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character > 0xbf;
}

/// Letters that are typed while nothing has the keyboard go behind the sentence in its box, which takes the keyboard.
void type_into_sentence(Gui& gui) {
  const ViewState& view = gui.state.view;
  const Document& document = gui.state.document;
  if (has_own_inputs(document) || reads_ids(document) || reads_picture(document)) return;
  std::string typed = view.focus_text ? view.typed : text_of_keyboard(gui.state.document);
  const std::size_t before = typed.size();
  for (const ImWchar character : ImGui::GetIO().InputQueueCharacters)
    if (typed.size() > before || view.focus_text || is_letter(character)) append_utf8(typed, character);
  if (typed.size() > before) gui.push(FocusText{true, typed});
}

}  // namespace

void shortcuts(Gui& gui) {
  const ImGuiIO& io = ImGui::GetIO();
  const ViewState& view = gui.state.view;
  if (view.palette || io.KeySuper) return;  // the palette handles its keys itself, and so does the desktop
  const bool browses = gui.state.browser.purpose != Browser::Purpose::none || view.numbers.has_value();
  const bool typing = io.WantTextInput || view.focus_text || view.focus_find;
  for (const Action& action : all_actions())
    for (const Chord& chord : action.keys) {
      const bool anywhere = chord.key == Key::f1 || (action.id == Act::leave && !typing) || (chord.ctrl && !chord.alt);
      if (chord.key == Key{} || !action.run || !is_pressed(chord, action.repeats)) continue;
      if ((typing && is_of_text(action, chord) && chord.key != Key::f1) || (browses && !anywhere)) continue;
      if (is_possible(gui, action)) return perform(gui, action);
    }
  for (std::size_t i = 0; i < std::min(kSampleKeys, gui.samples.size()); ++i)
    if (is_pressed(sample_chord(i), false)) return take_sample(gui, gui.samples[i]);
  if (!browses && !io.KeyCtrl && !io.KeyAlt && !io.WantTextInput && !view.focus_find) type_into_sentence(gui);
}

}  // namespace headlight
