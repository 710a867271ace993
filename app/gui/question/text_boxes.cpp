#include "gui/question/text_boxes.h"

#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "base/utf8.h"
#include "gui/frame/controls.h"
#include "gui/frame/imgui_compat.h"
#include "words/sentence_words.h"

namespace headlight {
namespace {

constexpr int kMostTextLines = 3;

/// The box's text while it is edited, and what happens where it takes the keyboard.
struct Editing {
  std::string text;
  bool takes_keyboard = false;
  // Both replace the text; where both are empty the text is selected.
  std::string typed;          // before the box had the keyboard
  std::string arriving = {};  // the characters of this frame
  bool follows = false;       // the text changed elsewhere, as by Undo: the box, which has a copy, takes it over
  std::size_t cursor = 0;     // in bytes of the text
};

/// Makes the text what was typed before, then the characters of this frame: ImGui inserts them where the cursor was
/// left.
void replace_with_typed(ImGuiInputTextCallbackData* data, const std::string& typed, const std::string& arriving) {
  data->DeleteChars(0, data->BufTextLen);
  data->InsertChars(0, (typed + arriving).c_str());
}

/// Replaces the text of the box; the cursor goes behind the part that differs.
void take_over(ImGuiInputTextCallbackData* data, const std::string& text) {
  const std::string before(data->Buf, static_cast<std::size_t>(data->BufTextLen));
  const std::size_t both = std::min(before.size(), text.size());
  std::size_t begin = 0, end = 0;
  while (begin < both && before[begin] == text[begin]) ++begin;
  while (begin + end < both && before[before.size() - 1 - end] == text[text.size() - 1 - end]) ++end;
  while (end > 0 && (static_cast<unsigned char>(text[text.size() - end]) & 0xc0) == 0x80) --end;  // inside a character
  data->DeleteChars(0, data->BufTextLen);
  data->InsertChars(0, text.c_str());
  data->CursorPos = data->SelectionStart = data->SelectionEnd = static_cast<int>(text.size() - end);
}

int edit_callback(ImGuiInputTextCallbackData* data) {
  auto& editing = *static_cast<Editing*>(data->UserData);
  if (editing.takes_keyboard && (editing.typed + editing.arriving).empty()) data->SelectAll();
  else if (editing.takes_keyboard) replace_with_typed(data, editing.typed, editing.arriving);
  else if (editing.follows) take_over(data, std::string(editing.text));
  editing.cursor = static_cast<std::size_t>(data->CursorPos);
  return 0;
}

/// In a box the keys of Undo act on the window's steps: one step is what was typed without a pause.
void undo_keys(Gui& gui) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!io.KeyCtrl || io.KeyAlt || io.KeySuper) return;
  if (key_pressed(Key{'Z'}) && !io.KeyShift) gui.push(Undo{});
  else if (key_pressed(Key{'Y'}) || (io.KeyShift && key_pressed(Key{'Z'}))) gui.push(Redo{});
}

/// A text that can be typed: what it is called, what it is for, and the command of typing.
struct TextBox {
  std::string name;
  const std::string& text;
  const char* hint;
  bool takes_keyboard;  // at Ctrl L
  std::function<void(Gui& gui, std::string text)> submit;
  int most_lines = kMostTextLines;
};

/// Gives where the cursor is, as a byte offset into the text, while the box has the keyboard.
std::optional<std::size_t> text_box(Gui& gui, const TextBox& box, float width) {
  const std::string& text = box.text;
  Editing editing{gui.fonts.edited(text), gui.state.view.focus_text && box.takes_keyboard,
                  gui.fonts.edited(gui.state.view.typed)};
  ImGui::PushID(box.name.c_str());
  const ImGuiID item = ImGui::GetID("##text");
  const bool typing = ImGui::GetCurrentContext()->ActiveId == item;
  const auto fingerprint = [](const std::string& of) { return static_cast<int>(std::hash<std::string>{}(of)); };
  int& known = *ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("known text"), fingerprint(text));
  editing.follows = typing && known != fingerprint(text);
  known = fingerprint(text);
  if (typing) undo_keys(gui);
  std::string& shown = editing.text;
  if (editing.takes_keyboard) {
    ImGui::SetKeyboardFocusHere();
    for (const ImWchar character : ImGui::GetIO().InputQueueCharacters)
      if (character >= ' ' && character != 0x7f) append_utf8(editing.arriving, character);
  }
  const auto lines = static_cast<int>(std::ranges::count(text, '\n')) + 1;
  const ImGuiStyle& style = ImGui::GetStyle();
  const float height =
      static_cast<float>(std::min(lines, box.most_lines)) * ImGui::GetTextLineHeight() + 2 * style.FramePadding.y;
  // Enter is done with the sentence; with Shift it begins the next line. ImGui knows this flag for Ctrl alone.
  const ImGuiIO& io = ImGui::GetIO();
  const bool enter_leaves = !io.KeyShift && !io.KeyCtrl;
  const bool edited = lines_box(gui, "##text", box.hint, shown, {width, height},
                                ImGuiInputTextFlags_CallbackAlways | ImGuiInputTextFlags_NoUndoRedo |
                                    (enter_leaves ? ImGuiInputTextFlags_CtrlEnterForNewLine : 0),
                                edit_callback, &editing);
  if (editing.takes_keyboard && ImGui::IsItemActive()) gui.push(FocusText{false});
  // Escape leaves the box; ImGui would take back what was typed.
  if (edited && !editing.follows && !key_pressed(Key::escape, false)) {
    std::string typed = gui.fonts.typed(shown);
    known = fingerprint(typed);
    box.submit(gui, std::move(typed));
  }
  const bool has_cursor = ImGui::IsItemActive();
  if (ImGui::IsItemDeactivated()) gui.push(EndGesture{});
  gui.name_item(box.name, BoxKind::field, item);
  ImGui::PopID();
  if (!has_cursor) return std::nullopt;
  return gui.fonts.typed(shown.substr(0, editing.cursor)).size();
}

/// The turn whose box takes the keyboard: the last one of the user, else the first.
std::size_t turn_of_keyboard(const Chat& chat) {
  const auto asked = std::find_if(chat.turns.rbegin(), chat.turns.rend(),
                                  [](const ChatTurn& one) { return one.role == ChatRole::user; });
  return asked == chat.turns.rend() ? 0 : static_cast<std::size_t>(chat.turns.rend() - asked) - 1;
}

}  // namespace

std::string named(TextSide side, const std::string& name) { return side == TextSide::target ? "target " + name : name; }

const std::string& text_of_keyboard(const Document& document) {
  return reads_chat(document) ? document.chat.turns[turn_of_keyboard(document.chat)].text : document.source.text;
}

std::optional<std::size_t> side_box(Gui& gui, TextSide side, float width) {
  const std::string& text = text_input(gui.state.document, side).text;
  if (side == TextSide::target)
    return text_box(gui,
                    {named(side, "text"), text, gui.word(kSentenceWords.target_hint), false,
                     [](Gui& g, std::string typed) { g.push(SetTarget{std::move(typed)}); }},
                    width);
  return text_box(gui,
                  {named(side, "text"), text, gui.word(kSentenceWords.sentence_hint), true,
                   [](Gui& g, std::string typed) { g.push(SetText{std::move(typed)}); }},
                  width);
}

void second_box(Gui& gui, float width) {
  text_box(gui,
           {"second text", gui.state.document.text_pair, gui.word(kPairWords.second_hint), false,
            [](Gui& g, std::string typed) { g.push(SetTextPair{std::move(typed)}); }},
           width);
  if (gui.state.document.text_pair.empty()) explain_item(gui, kPairWords.tip_second);
}

void turn_box(Gui& gui, std::size_t turn, float width) {
  const Chat& chat = gui.state.document.chat;
  text_box(gui,
           {"turn " + std::to_string(turn) + " text", chat.turns[turn].text, gui.word(kChatWords.turn_hint),
            turn == turn_of_keyboard(chat),
            [turn](Gui& g, std::string typed) {
              Chat changed = g.state.document.chat;
              changed.turns[turn].text = std::move(typed);
              g.push(SetChat{std::move(changed)});
            },
            1},
           width);
}

void ids_box(Gui& gui, TextSide side, float width) {
  std::string text = ids_text(text_input(gui.state.document, side), "; ");
  ImGui::PushID(static_cast<int>(side));
  ImGui::SetNextItemWidth(width);
  const bool takes_keyboard = gui.state.view.focus_text && side == TextSide::source;
  if (takes_keyboard) ImGui::SetKeyboardFocusHere();
  if (ImGui::InputTextWithHint("##ids", gui.word(kSentenceWords.ids_hint), &text)) {
    SetIds wanted{{}, side};
    for (const std::string_view line : split_at(';', text.c_str())) {
      const std::size_t begin = wanted.ids.size();
      for (const std::string_view part : split_at(',', line)) {
        std::istringstream words{std::string(part)};
        for (std::int64_t id = 0; words >> id;) wanted.ids.push_back(id);
      }
      if (begin > 0 && wanted.ids.size() > begin) wanted.cuts.push_back(begin);
    }
    if (!wanted.ids.empty()) gui.push(std::move(wanted));
  }
  if (takes_keyboard && ImGui::IsItemActive()) gui.push(FocusText{false});
  if (ImGui::IsItemDeactivated()) gui.push(EndGesture{});
  gui.name_item(named(side, "ids"), BoxKind::field);
  ImGui::PopID();
}

}  // namespace headlight
