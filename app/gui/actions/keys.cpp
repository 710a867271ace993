#include <algorithm>
#include <iterator>

#include "base/utf8.h"
#include "gui/actions/actions.h"
#include "words/lesson_words.h"

namespace headlight {
namespace {

struct KeyName {
  Key key;
  const char* name;
};
constexpr KeyName kKeyNames[] = {
    {Key::space, "Space"},
    {Key::escape, "Esc"},
    {Key::enter, "Enter"},
    {Key::tab, "Tab"},
    {Key::backspace, "Backspace"},
    {Key::del, "Del"},
    {Key::left, "←"},
    {Key::right, "→"},
    {Key::up, "↑"},
    {Key::down, "↓"},
    {Key::page_up, "Page Up"},
    {Key::page_down, "Page Down"},
    {Key::home, "Home"},
    {Key::end, "End"},
    {Key::f1, "F1"},
    {Key::f2, "F2"},
};
/// The signs of keys with Shift that are no letters.
constexpr KeyName kShifted[] = {{Key::slash, "?"}, {Key::left_bracket, "{"}, {Key::right_bracket, "}"}};

std::string key_name(Key key) {
  const auto* const named = std::ranges::find_if(kKeyNames, [key](const KeyName& one) { return one.key == key; });
  return named != std::end(kKeyNames) ? named->name : std::string(1, static_cast<char>(key));
}

}  // namespace

bool is_pressed(const Chord& chord, bool repeats) {
  const ImGuiIO& io = ImGui::GetIO();
  return chord.ctrl == io.KeyCtrl && chord.shift == io.KeyShift && chord.alt == io.KeyAlt &&
         key_pressed(chord.key, repeats);
}

std::string chord_text(const Chord& chord) {
  std::string text;
  if (chord.ctrl) text += "Ctrl ";
  if (chord.alt) text += "Alt ";
  const auto* const sign = std::ranges::find_if(kShifted, [&](const KeyName& one) { return one.key == chord.key; });
  if (chord.shift && sign != std::end(kShifted)) return text + sign->name;
  if (chord.shift) text += "Shift ";
  return text + key_name(chord.key);
}

std::string keys_of(Act id) {
  std::string text;
  for (const Chord& chord : action(id).keys)
    if (chord.key != Key{}) text += (text.empty() ? "" : " / ") + chord_text(chord);
  return text;
}

std::string action_in_text(const Gui& gui, Act id) {
  const std::string keys = keys_of(id), name = gui.word(action(id).name);
  return keys.empty() ? filled(gui.word(kLessonWords.action), {name})
                      : filled(gui.word(kLessonWords.action_with_keys), {name, keys});
}

std::string with_keys(const Gui& gui, const Words& words, std::initializer_list<Act> acts) {
  std::string text;
  const Act* act = acts.begin();
  for (const char* at = gui.word(words); *at != '\0'; ++at)
    if (*at == '%' && act != acts.end()) text += keys_of(*act++);
    else text += *at;
  return text;
}

void explain_item(const Gui& gui, const Words& words, std::initializer_list<Act> acts) {
  if (ImGui::IsItemHovered()) explain_item(gui, with_keys(gui, words, acts));
}

}  // namespace headlight
