#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "gui/actions/question.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "gui/question/chat_turns.h"
#include "gui/question/question.h"
#include "gui/question/text_boxes.h"
#include "words/sentence_words.h"

namespace headlight {
namespace {

/// Those in the language of the window come first.
std::vector<std::size_t> sample_order(const Gui& gui) {
  std::vector<std::size_t> order(gui.samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (gui.chinese()) return order;
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t i) { return static_cast<unsigned char>(gui.samples[i].text.front()) < 0x80; });
  return order;
}

/// `second`: whether the box of a second sentence is asked for; null: the model reads none.
void samples_menu(Gui& gui, bool* second) {
  if (menu_button(gui, "samples", gui.word(kSentenceWords.samples))) ImGui::OpenPopup("samples");
  if (!begin_menu("samples")) return;
  if (second && menu_line(gui, "add second", gui.word(kPairWords.add_second))) *second = true;
  for (const std::size_t i : sample_order(gui)) {
    const Sample& sample = gui.samples[i];
    std::string text = sample.text;
    std::replace(text.begin(), text.end(), '\n', '/');
    ImGui::PushID(static_cast<int>(i));
    if (plain_selectable(gui.fonts.shown(text))) take_sample(gui, sample);
    gui.name_item("sample " + std::to_string(i));
    dim_text(gui, gui.fonts.shown(gui.chinese() ? sample.note_zh : sample.note_en));
    ImGui::PopID();
    ImGui::Spacing();
  }
  ImGui::EndPopup();
}

bool has_target(const Document& document) { return config_of(document).arch == Arch::encoder_decoder; }

/// Asks by the token ids of the texts, or by the texts again.
void ask_by(Gui& gui, bool ids) {
  const Document& document = gui.state.document;
  const Request* request = whole_request(gui.state);
  for (const TextSide side : {TextSide::source, TextSide::target}) {
    if (side == TextSide::target && !has_target(document)) continue;
    SetIds wanted{{}, side};
    if (ids && request) {
      const Tokens& tokens = side == TextSide::target ? request->target : request->tokens;
      const bool source = side == TextSide::source, pair = source && second_sentence(tokens) > 0;  // which stays one
      if (source) wanted.types.emplace();
      for (std::size_t i = 0; i < own_tokens(document, tokens); ++i) {
        wanted.ids.push_back(tokens.tokens[i].id);
        if (pair) wanted.types->push_back(tokens.tokens[i].type);
      }
    }
    gui.push(std::move(wanted));
  }
  gui.push(EndGesture{});
}

/// A button of the line beside the tokens, or a word of it where `run` is empty.
struct Choice {
  std::string name, label;
  const Words* tip = nullptr;
  bool on = false;
  std::function<void()> run = {};
  float gap = 0;  // before it, in pixels of the design
};

/// What there is to choose of the text and its tokens, at the right end of the line, so that nothing moves: text, ids
/// or a conversation of a checkpoint; how the text is cut; which sentence of a batch is on the screen.
std::vector<Choice> text_choices(Gui& gui) {
  const Document& document = gui.state.document;
  std::vector<Choice> choices;
  const auto add = [&](const char* name, const char* label, bool on, const Words* tip, std::function<void()> run,
                       bool apart = false) {
    choices.push_back({name, label, tip, on, std::move(run), apart && !choices.empty() ? 16.0f : 0.0f});
  };
  if (!can_read_text(document)) return choices;
  const bool ids = reads_ids(document), chat = reads_chat(document), talks = takes_chat(document);
  if (is_checkpoint(document) && !takes_shape(document)) {
    const Words* tip = &kSentenceWords.tip_as_ids;
    add("ask by text", gui.word(kSentenceWords.as_text), !ids && !chat, tip, [=, &gui] {
      if (talks && (ids || chat)) gui.push_once(SetChat{});
      else if (ids) ask_by(gui, false);
    });
    add("ask by ids", gui.word(kSentenceWords.as_ids), ids, tip, [=, &gui] {
      if (!ids && whole_request(gui.state)) ask_by(gui, true);
    });
    const auto talk = [=, &gui] {
      if (!chat) add_turn(gui);
    };
    if (talks) add("ask by conversation", gui.word(kChatWords.as_chat), chat, &kChatWords.tip_as_chat, talk);
  }
  if (ids || chat) return choices;
  const bool by_hand = document.source.hand_cuts || (has_target(document) && document.target.hand_cuts);
  const auto cut = [&](const char* name, const Words& label, bool on, Split split, bool apart) {
    const auto run = [&gui, split] { gui.push_once(SetSplit{split}); };
    add(name, gui.word(label), on, &kSentenceWords.tip_split, run, apart);
  };
  const Split now = document.source.split;
  if (!is_checkpoint(document)) {
    cut("split words", kSentenceWords.words, !by_hand && now == Split::words, Split::words, true);
    cut("split characters", kSentenceWords.characters, !by_hand && now == Split::characters, Split::characters, false);
  }
  if (by_hand) cut("split automatic", kSentenceWords.automatic, false, now, true);
  const std::size_t count = gui.state.requests.size(), shown = gui.state.view.sentence;
  if (count < 2) return choices;
  const auto go = [&](std::size_t to) { return [&gui, to] { gui.push(ChooseSentence{to}); }; };
  const std::string number = std::to_string(shown + 1) + " / " + std::to_string(count);
  add("sentence before", "<", false, nullptr, go((shown + count - 1) % count), true);
  choices.push_back({"", std::string(gui.word(kSentenceWords.sentence_number)) + " " + number});
  add("sentence after", ">", false, nullptr, go((shown + 1) % count));
  return choices;
}

float choices_width(const Gui& gui, const std::vector<Choice>& choices) {
  float width = 0;
  for (const Choice& one : choices) width += one.gap * gui.unit + button_width(one.label.c_str());
  return width;
}

void draw_choices(Gui& gui, const std::vector<Choice>& choices) {
  for (const Choice& one : choices) {
    if (&one != &choices.front()) ImGui::SameLine(0, one.gap * gui.unit);
    if (!one.run) {
      ImGui::AlignTextToFramePadding();
      const float inset = ImGui::GetStyle().FramePadding.x;
      ImGui::SetCursorPosX(ImGui::GetCursorPosX() + inset);
      ImGui::TextUnformatted(one.label.c_str());
      ImGui::SameLine(0, inset);
      ImGui::Dummy({0, 0});
      continue;
    }
    if (flat_button(gui, one.name.c_str(), one.label.c_str(), one.on)) one.run();
    if (one.tip) explain_item(gui, *one.tip);
  }
}

/// The picture's file, to be chosen or typed, and what the model sees of it.
void picture_line(Gui& gui, float room) {
  const AppState& state = gui.state;
  const float gap = 8 * gui.unit, begin = ImGui::GetCursorPosX();
  if (flat_button(gui, "open picture", gui.word(kSentenceWords.open_picture)))
    gui.push(Browse{Browser::Purpose::open, {}});
  explain_item(gui, kSentenceWords.tip_open_picture);
  ImGui::SameLine(0, gap);
  std::string path = state.document.picture ? state.document.picture->path : std::string();
  ImGui::SetNextItemWidth(std::max(80 * gui.unit, begin + room - ImGui::GetCursorPosX()));
  if (ImGui::InputTextWithHint("##picture path", gui.word(kSentenceWords.picture_path), &path,
                               ImGuiInputTextFlags_EnterReturnsTrue) &&
      !path.empty())
    gui.push(OpenPath{std::move(path)});
  gui.name_item("picture path", BoxKind::field);
  explain_item(gui, state.document.seen ? state.document.seen->done.in(gui.state.settings.language)
                                        : gui.word(kSentenceWords.no_picture));
}

/// The texts, side by side, in so much room. Gives where the keyboard's cursor is.
Cursor text_line(Gui& gui, float room) {
  const Document& document = gui.state.document;
  const float gap = 8 * gui.unit;
  const bool two = has_target(document), ids = reads_ids(document), pairs = takes_pairs(document);
  // The box of a second sentence is there where there is one, or while it is asked for; ImGui keeps that, not the
  // state, as for any menu.
  bool& asked = *ImGui::GetStateStorage()->GetBoolRef(ImGui::GetID("second sentence"));
  const bool second = pairs && (asked || !document.text_pair.empty());
  const float samples = ids ? 0 : menu_width(gui, gui.word(kSentenceWords.samples)) + gap;
  const float boxes = 1.0f + (two ? 1 : 0) + (second ? 1 : 0);
  const float each = std::floor((room - samples - (boxes - 1) * gap) / boxes);
  Cursor cursor;
  if (reads_chat(document)) chat_turns(gui, each);
  else if (ids) ids_box(gui, TextSide::source, each);
  else if (const auto at = side_box(gui, TextSide::source, each)) cursor = {*at, TextSide::source};
  if (second) {
    ImGui::SameLine(0, gap);
    bool& drawn = *ImGui::GetStateStorage()->GetBoolRef(ImGui::GetID("second drawn"));
    if (asked && !drawn) ImGui::SetKeyboardFocusHere();
    drawn = true;
    second_box(gui, each);
    if (ImGui::IsItemDeactivated() && document.text_pair.empty()) asked = drawn = false;
  }
  if (two) {
    ImGui::SameLine(0, gap);
    if (reads_ids(document, TextSide::target)) ids_box(gui, TextSide::target, each);
    else if (const auto at = side_box(gui, TextSide::target, each)) cursor = {*at, TextSide::target};
  }
  if (ids) return cursor;
  ImGui::SameLine(0, gap);
  samples_menu(gui, pairs && !second ? &asked : nullptr);
  return cursor;
}

}  // namespace

void sentence_panel(Gui& gui) {
  const Document& document = gui.state.document;
  const float gap = 8 * gui.unit, left = ImGui::GetCursorPosX(), right = ImGui::GetContentRegionMax().x;
  const bool own = has_own_inputs(document), chips = has_chips(gui.state);
  Cursor cursor;
  // The text ends where the stage does, in any window; what there is to choose of it stands at the right end.
  const std::vector<Choice> choices = text_choices(gui);
  const float top = ImGui::GetCursorPosY(), chosen = choices_width(gui, choices);
  constexpr float kShare = 0.64f;
  const float room = std::min(std::round(kShare * (right - left)), right - left - chosen - 2 * gap);
  if (reads_picture(document)) picture_line(gui, room);
  else if (!own) cursor = text_line(gui, room);
  if ((own || reads_picture(document)) && gui.state.view.focus_text)
    gui.push(FocusText{false});  // no box will take the keyboard
  gui.cursor = cursor;
  const float below = own ? top : ImGui::GetCursorPosY();
  if (chosen > 0) {
    ImGui::SetCursorPos({right - chosen, top});
    draw_choices(gui, choices);
    ImGui::SetCursorPos({left, below});
  }
  if (chips) {
    if (reads_chat(document)) {
      turn_buttons(gui);
      ImGui::SameLine(0, 2 * gap);
    }
    all_chips(gui, right - ImGui::GetCursorPosX());
  }
  const float bottom = ImGui::GetCursorPosY();
  ImGui::SetCursorPosY(bottom);
  controls_row(gui);
  ImGui::SameLine(0, 10 * gui.unit);
  ImGui::SetCursorPosY(bottom);
  model_line(gui, right - ImGui::GetCursorPosX(), cursor);
}

}  // namespace headlight
