// The turns of a conversation, one below the other: the role of each, its text, and a cross that takes it away.
#include "gui/question/chat_turns.h"

#include <algorithm>

#include "base/names.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/question/text_boxes.h"
#include "question/tokenizers.h"
#include "words/enum_words.h"
#include "words/sentence_words.h"

namespace headlight {
namespace {

constexpr std::size_t kMostShownTurns = 4;

float row_height() { return ImGui::GetFrameHeight() + ImGui::GetStyle().ItemSpacing.y; }

/// Pushes the changed conversation as one step of undo.
void say_changed(Gui& gui, Chat chat) {
  if (chat.turns.empty() || chat.turns.back().role != ChatRole::assistant) chat.open = false;
  gui.push_once(SetChat{std::move(chat)});
}

float role_width(const Gui& gui) {
  float width = 0;
  for (const Words& role : kChatWords.roles) width = std::max(width, menu_width(gui, gui.word(role)));
  return width;
}

void role_menu(Gui& gui, std::size_t turn) {
  const Document& document = gui.state.document;
  const ChatRole now = document.chat.turns[turn].role;
  const std::string name = "turn " + std::to_string(turn) + " role";
  if (menu_button(gui, name.c_str(), gui.word(role_words(now)))) ImGui::OpenPopup("role");
  explain_item(gui, kChatWords.role);
  if (!begin_menu_below(gui, "role")) return;
  for (const ChatRole role : {ChatRole::system, ChatRole::user, ChatRole::assistant}) {
    if (!has_role(*document.tokenizers->chat, role)) continue;
    const std::string line = name + " " + std::string(name_in(kChatRoles, role));
    if (!menu_line(gui, line.c_str(), gui.word(role_words(role)), {}, role == now) || role == now) continue;
    Chat chat = document.chat;
    chat.turns[turn].role = role;
    say_changed(gui, std::move(chat));
  }
  ImGui::EndPopup();
}

void turn_row(Gui& gui, std::size_t turn, float roles, float width) {
  const float gap = 6 * gui.unit, cross = button_width("×");
  ImGui::PushID(static_cast<int>(turn));
  const float left = ImGui::GetCursorPosX();
  role_menu(gui, turn);
  ImGui::SameLine(left + roles + gap);
  turn_box(gui, turn, width - roles - cross - 2 * gap);
  ImGui::SameLine(0, gap);
  const bool removed = flat_button(gui, ("turn " + std::to_string(turn) + " remove").c_str(), "×");
  explain_item(gui, kChatWords.remove_turn);
  if (removed) {
    Chat chat = gui.state.document.chat;
    chat.turns.erase(chat.turns.begin() + static_cast<std::ptrdiff_t>(turn));
    say_changed(gui, std::move(chat));
  }
  ImGui::PopID();
}

}  // namespace

float chat_height(const Gui& gui) {
  const std::size_t turns = gui.state.document.chat.turns.size();
  return row_height() * static_cast<float>(std::min(turns, kMostShownTurns));
}

void chat_turns(Gui& gui, float width) {
  const std::size_t turns = gui.state.document.chat.turns.size();
  const bool scrolls = turns > kMostShownTurns;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2{});
  ImGui::BeginChild("turns", {width, chat_height(gui) - ImGui::GetStyle().ItemSpacing.y}, false,
                    scrolls ? ImGuiWindowFlags_None : ImGuiWindowFlags_NoScrollbar);
  ImGui::PopStyleVar();
  const float inner = width - (scrolls ? ImGui::GetStyle().ScrollbarSize + 4 * gui.unit : 0);
  const float roles = role_width(gui);
  for (std::size_t turn = 0; turn < turns; ++turn) turn_row(gui, turn, roles, inner);
  // A turn that was added is seen.
  int& shown = *ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("shown turns"));
  if (scrolls && shown < static_cast<int>(turns)) ImGui::SetScrollHereY(1);
  shown = static_cast<int>(turns);
  ImGui::EndChild();
}

void turn_buttons(Gui& gui) {
  const Chat& chat = gui.state.document.chat;
  if (flat_button(gui, "add turn", gui.word(kChatWords.add_turn))) add_turn(gui);
  explain_item(gui, kChatWords.tip_add_turn);
  if (chat.turns.back().role != ChatRole::assistant) return;
  ImGui::SameLine(0, 4 * gui.unit);
  if (flat_button(gui, "answer goes on", gui.word(kChatWords.open), chat.open))
    gui.push_once(SetChat{{chat.turns, !chat.open}});
  explain_item(gui, kChatWords.tip_open);
}

void add_turn(Gui& gui) {
  const Document& document = gui.state.document;
  Chat chat = document.chat;
  if (chat.turns.empty()) {
    chat = {{{ChatRole::user, document.source.text}}};
  } else if (reads_chat(document)) {
    chat.open = chat.turns.back().role == ChatRole::user;  // an answer that is begun
    chat.turns.push_back({chat.open ? ChatRole::assistant : ChatRole::user});
  }
  gui.push_once(SetChat{std::move(chat)});
}

}  // namespace headlight
