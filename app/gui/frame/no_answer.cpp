#include "gui/frame/no_answer.h"

#include <algorithm>
#include <cmath>

#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "session/answer_state.h"
#include "words/answer_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

constexpr std::size_t kExamples = 6;

/// A text in the middle of the panel.
void centred(const char* text) {
  const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text).x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, room / 2));
  ImGui::TextUnformatted(text);
}

/// The ways out of a failure.
void failure_buttons(Gui& gui, const AnswerState& shown, bool opening) {
  const float unit = gui.unit;
  bool has_way_out = !opening && read_first_button(gui, primary_button);
  if (const std::string text = opening ? gui.state.open_failure->text : std::string(); !text.empty()) {
    has_way_out = true;
    if (primary_button(gui, "where is model", gui.word(kFailureWords.where_is_model))) {
      gui.push_once(SetText{text});
      gui.push(Browse{Browser::Purpose::open, gui.state.browser.folder});
    }
  }
  if (has_way_out) same_line_if_room(button_width(gui.word(kFailureWords.choose_another)), 8 * unit);
  const char* choose = gui.word(kFailureWords.choose_another);
  if (has_way_out ? flat_button(gui, "choose another", choose) : primary_button(gui, "choose another", choose))
    gui.push(Browse{Browser::Purpose::open, gui.state.browser.folder});
  same_line_if_room(button_width(gui.word(kFailureWords.details)), 8 * unit);
  if (flat_button(gui, "failure details", gui.word(kFailureWords.details), shown.details))
    gui.push(ShowFailure{!shown.details});
  const Words& back = opening ? kFailureWords.go_back : kFailureWords.undo_opening;
  if (opening || !gui.state.undo.empty()) {
    same_line_if_room(button_width(gui.word(back)), 8 * unit);
    if (flat_button(gui, "leave failure", gui.word(back))) {
      if (opening) gui.push(LeaveFailure{});
      else gui.push(Undo{});
    }
  }
}

void failure_card(Gui& gui, const AnswerState& shown) {
  const bool opening = shown.kind == AnswerState::Kind::cannot_open;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float unit = gui.unit, width = std::min(room.x - 16 * unit, 560 * unit), inset = 24 * unit;
  const float left = ImGui::GetCursorPosX() + std::max(8 * unit, (room.x - width) / 2);
  const ImVec2 window = ImGui::GetWindowPos();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.ChannelsSplit(2);
  list.ChannelsSetCurrent(1);
  const float top = ImGui::GetCursorPosY() + std::min(room.y * 0.2f, 120 * unit);
  ImGui::SetCursorPos({left + inset, top + inset});
  ImGui::BeginGroup();
  ImGui::PushTextWrapPos(left + width - inset);
  {
    const FontScope title(gui, TextSize::title);
    ImGui::TextUnformatted(gui.word(opening ? kFailureWords.cannot_open : kFailureWords.cannot_ask));
  }
  ImGui::TextUnformatted(gui.word(failure_words(shown.error->code)));
  ImGui::PopTextWrapPos();
  const FontScope small(gui, TextSize::small);
  ImGui::PushTextWrapPos(left + width - inset);
  ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().dim);
  if (!shown.path.empty()) ImGui::TextUnformatted(gui.fonts.shown(shown.path).c_str());
  if (shown.details) {
    ImGui::TextUnformatted(gui.fonts.shown(shown.error->message()).c_str());
    gui.name_item("failure line", BoxKind::label);
  }
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
  ImGui::Dummy({0, 4 * unit});
  ImGui::PopFont();
  gui.fonts.push(TextSize::body);
  failure_buttons(gui, shown, opening);
  ImGui::EndGroup();
  const float bottom = ImGui::GetItemRectMax().y + inset;
  list.ChannelsSetCurrent(0);
  const Box card{window.x + left, window.y + top - ImGui::GetScrollY(), width, bottom - window.y - top};
  list.AddRectFilled(top_left(card), bottom_right(card), gui.colours().panel, 8 * unit);
  list.AddRect(top_left(card), bottom_right(card), gui.colours().line, 8 * unit, 0, unit);
  list.ChannelsMerge();
  gui.name_box("failure card", card);
}

/// The examples that a window offers first: those of its language, no files.
std::vector<const Sample*> examples(const Gui& gui) {
  const auto is_english = [](const Sample& one) {
    return !one.text.empty() && static_cast<unsigned char>(one.text[0]) < 128;
  };
  std::vector<const Sample*> all;
  for (const Sample& one : gui.samples)
    if (one.file.empty() && one.text.find('\n') == std::string::npos) all.push_back(&one);
  std::stable_partition(all.begin(), all.end(), [&](const Sample* one) { return is_english(*one) != gui.chinese(); });
  if (all.size() > kExamples) all.resize(kExamples);
  return all;
}

constexpr float kCardInset = 12, kCardGap = 12, kNoteGap = 4;  // pixels of the design

/// The texts of a card.
struct Example {
  const Sample* sample = nullptr;
  Paragraph text, note;
};

Example example(Gui& gui, const Sample& sample, float room) {
  Example one{&sample, paragraph(gui, sample.text, room), {}};
  const FontScope small(gui, TextSize::small);
  one.note = paragraph(gui, gui.chinese() ? sample.note_zh : sample.note_en, room);
  return one;
}

/// A sentence and what it asks; a click asks it.
void example_card(Gui& gui, const Example& one, std::size_t number, const Box& box) {
  const float unit = gui.unit, inset = kCardInset * unit;
  ImGui::SetCursorScreenPos(top_left(box));
  const std::string name = "example " + std::to_string(number);
  if (ImGui::InvisibleButton(name.c_str(), {box.w, box.h})) gui.push_once(SetText{one.sample->text});
  gui.name_item(name);
  const bool hovered = ImGui::IsItemHovered();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(top_left(box), bottom_right(box), hovered ? gui.colours().button_hovered : gui.colours().panel,
                     6 * unit);
  list.AddRect(top_left(box), bottom_right(box), gui.colours().dim, 6 * unit, 0, unit);
  const float room = box.w - 2 * inset;
  draw_paragraph(gui, one.text, {box.x + inset, box.y + inset}, gui.colours().text, (name + " text").c_str(), room);
  const FontScope small(gui, TextSize::small);
  draw_paragraph(gui, one.note, {box.x + inset, box.y + inset + one.text.height + kNoteGap * unit}, gui.colours().dim,
                 (name + " note").c_str(), room);
}

void example_cards(Gui& gui) {
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float unit = gui.unit, gap = kCardGap * unit;
  const auto columns = static_cast<std::size_t>(std::clamp(std::floor(room.x / (260 * unit)), 1.0f, 3.0f));
  const float width =
      std::min(320 * unit, (room.x - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns));
  const float all = width * static_cast<float>(columns) + gap * static_cast<float>(columns - 1);
  const float left = at.x + (room.x - all) / 2;
  // All are as high as the one with the longest text.
  float height = 0;
  std::vector<Example> shown;
  for (const Sample* sample : examples(gui)) {
    const Example& one = shown.emplace_back(example(gui, *sample, width - 2 * kCardInset * unit));
    height = std::max(height, one.text.height + one.note.height + (2 * kCardInset + kNoteGap) * unit);
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const float x = left + static_cast<float>(i % columns) * (width + gap);
    const float y = at.y + static_cast<float>(i / columns) * (height + gap);
    if (y + height > at.y + room.y) break;
    example_card(gui, shown[i], i, {std::round(x), std::round(y), width, height});
  }
}

}  // namespace

std::string plain_line(const Gui& gui, const Error& error) { return plain_line(gui, error.code, error.message()); }

std::string plain_line(const Gui& gui, ErrorCode code, const std::string& line) {
  if (!gui.chinese()) return line;
  return gui.word(failure_words(code)) + (code == ErrorCode::bad_value ? " " + line : std::string());
}

std::string plain_lines(const Gui& gui, const Error& error) {
  const std::string line = error.message();
  return gui.chinese() ? std::string(gui.word(failure_words(error.code))) + "\n" + line : line;
}

bool state_card(Gui& gui) {
  const AnswerState shown = answer_state(gui.state);
  switch (shown.kind) {
    case AnswerState::Kind::shown: return false;
    case AnswerState::Kind::computing:
    case AnswerState::Kind::empty: nothing_yet(gui); return true;
    case AnswerState::Kind::cannot_open:
    case AnswerState::Kind::cannot_ask: failure_card(gui, shown); return true;
  }
  return false;
}

bool read_first_button(Gui& gui, bool (*button)(Gui&, const char*, const char*)) {
  const auto longer = too_long(gui.state);
  if (!longer) return false;
  const std::string label = filled(gui.word(kFailureWords.read_first), {std::to_string(longer->most)});
  if (button(gui, "read first", label.c_str()))
    if (const auto cut = read_first_tokens(gui.state)) gui.push_once(*cut);
  return true;
}

bool problem_line(Gui& gui) {
  const Error* problem = problem_of(gui.state);
  if (!problem) {
    if (has_one_word(gui.state)) wrapped_dim(gui, gui.word(kFailureWords.one_word));
    return false;
  }
  const std::string line = plain_lines(gui, *problem);
  wrapped_small(gui, gui.state.trace ? line + " — " + gui.word(kAnswerWords.stale) : line, gui.colours().warning);
  return true;
}

void nothing_yet(Gui& gui) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const bool empty = nothing_asked(gui.state);
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + room.y * (empty ? 0.12f : 0.4f));
  if (!empty) {
    if (!problem_of(gui.state)) centred(gui.word(kAnswerWords.computing));
    return;
  }
  {
    const FontScope title(gui, TextSize::title);
    centred(gui.word(kAnswerWords.empty_text));
  }
  centred(gui.word(kAnswerWords.empty_hint));
  ImGui::Dummy({0, 8 * gui.unit});
  example_cards(gui);
}

}  // namespace headlight
