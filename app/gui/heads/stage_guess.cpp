#include <algorithm>
#include <cstring>

#include "base/formatted.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/looks.h"
#include "gui/heads/stage_parts.h"
#include "gui/heads/stage_sentence.h"
#include "math/output.h"
#include "words/chosen_head_words.h"

namespace headlight {
namespace {

/// The probabilities without edits, where they are known and differ.
Vector before(const AppState& state) {
  if (!is_edited(state) || !state.baseline || state.baseline->logits.size() != state.trace->logits.size()) return {};
  return probabilities(state.baseline->logits);
}

/// One word: its text, its probability as a bar and in digits, and what it was before the edits; nothing where it would
/// not end left of `right`.
void candidate_chip(Gui& gui, const Candidate& word, const Vector& earlier, bool can_append, float right) {
  const Palette& colours = gui.colours();
  const std::string text = gui.fonts.shown(axis_label({.text = word.text, .raw = {}}));
  std::string number = percent(word.probability);
  if (earlier.size() > 0) number = percent(earlier(word.row)) + " → " + number;
  const float padding = 7 * gui.unit;
  const float text_width = ImGui::CalcTextSize(text.c_str()).x;
  float number_width = 0;
  {
    const FontScope small(gui, TextSize::small);
    number_width = ImGui::CalcTextSize(number.c_str()).x;
  }
  const ImVec2 size{text_width + number_width + 3 * padding, ImGui::GetFrameHeight() + 3 * gui.unit};
  if (ImGui::GetCursorPosX() + size.x > right) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const std::string name = "word " + word.text;
  ImGui::PushID(static_cast<int>(word.row));  // several words of a vocabulary may read the same
  if (ImGui::InvisibleButton("word", size) && can_append) gui.push_once(AppendWord{word});
  ImGui::PopID();
  gui.name_item(name);
  if (can_append) explain_item(gui, kChosenHeadWords.tip_append);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 end{at.x + size.x, at.y + size.y};
  list.AddRectFilled(at, end, colours.button, 4 * gui.unit);
  const float bar = (size.x - 2 * gui.unit) * std::min(1.0f, word.probability);
  list.AddRectFilled({at.x + gui.unit, end.y - 4 * gui.unit}, {at.x + gui.unit + bar, end.y - gui.unit},
                     to_imgui(colour_map(gui.state.settings.theme, gui.state.settings.colours)[170]));
  if (can_append && ImGui::IsItemHovered()) list.AddRect(at, end, colours.accent, 4 * gui.unit, 0, gui.unit);
  const float y = at.y + (size.y - 3 * gui.unit - ImGui::GetFontSize()) / 2;
  list.AddText({at.x + padding, y}, colours.text, text.c_str());
  const FontScope small(gui, TextSize::small);
  list.AddText({at.x + 2 * padding + text_width, y + (ImGui::GetFontSize() * 0.08f)}, colours.dim, number.c_str());
  ImGui::SameLine(0, 6 * gui.unit);
}

/// A line of text that ends where the chips begin.
void lead(Gui& gui, const std::string& text) {
  ImGui::AlignTextToFramePadding();
  coloured_text(gui.colours().dim, text);
  ImGui::SameLine(0, 8 * gui.unit);
}

/// The probability of any one word.
void word_search(Gui& gui) {
  const AppState& state = gui.state;
  std::string text = gui.fonts.shown(state.view.word);
  text.reserve(64);
  ImGui::SetNextItemWidth(96 * gui.unit);
  if (ImGui::InputTextWithHint("##word", gui.word(kChosenHeadWords.find_word), text.data(), text.capacity() + 1,
                               ImGuiInputTextFlags_CallbackResize, grow_text, &text)) {
    text.resize(std::strlen(text.c_str()));
    gui.push(SearchWord{gui.fonts.typed(text)});
  }
  gui.name_item("find word", BoxKind::field);
  explain_item(gui, kChosenHeadWords.tip_find_word);
  ImGui::SameLine(0, 8 * gui.unit);
  if (state.view.word.empty()) return;
  const Trace& trace = *state.trace;
  const auto row = find_word(*trace.model, state.view.word);
  if (!row) return lead(gui, gui.word(kChosenHeadWords.no_such_word));
  candidate_chip(gui, candidate(*trace.model, probabilities(trace.logits), *row), before(state),
                 trace.model->config.arch != Arch::encoder, 1e6f);
}

void writing_on(Gui& gui) {
  const auto sampling = gui.state.view.sampling;
  lead(gui, gui.word(kChosenHeadWords.write));
  for (const int count : {1, 5, 20}) {
    const std::string label = std::to_string(count);
    if (flat_button(gui, ("write " + std::to_string(count)).c_str(), label.c_str()))
      gui.push(Generate{count, sampling});
    explain_item(gui, kChosenHeadWords.tip_write);
    ImGui::SameLine(0, 4 * gui.unit);
  }
  lead(gui, gui.word(kChosenHeadWords.write_words));
  ImGui::NewLine();
  control_label(gui, kChosenHeadWords.temperature, formatted("%.2f", static_cast<double>(sampling.temperature)));
  Sampling changed = sampling;
  if (slider(gui, "temperature", changed.temperature, 0.0f, 2.0f, kChosenHeadWords.tip_temperature))
    gui.push(SetSampling{{std::max(0.0f, changed.temperature), sampling.seed}});
}

/// Steps through what the decoder has read so far, one answer a token.
void prefix(Gui& gui) {
  const Request* whole = whole_request(gui.state);
  if (!whole) return;
  const int count = static_cast<int>(query_tokens(*whole).size());
  if (count < 2) return;
  int now = gui.state.view.prefix == 0 ? count : std::min(count, static_cast<int>(gui.state.view.prefix));
  dim_text(gui, filled(gui.word(kChosenHeadWords.prefix), {std::to_string(now), std::to_string(count)}));
  const SlimScope slim(gui);
  if (ImGui::SliderInt("##prefix", &now, 1, count, "", ImGuiSliderFlags_AlwaysClamp))
    gui.push(ChoosePrefix{now == count ? 0 : static_cast<std::size_t>(now)});
  gui.name_item("prefix", BoxKind::slider);
  explain_item(gui, kChosenHeadWords.tip_prefix);
}

/// Whether an encoder is asked for a mask that was typed.
bool guesses_mask(const AppState& state) {
  const auto& tokens = state.trace->query_tokens().tokens;
  return is_masked(tokens[static_cast<std::size_t>(state.trace->answering)]);
}

/// The menu offers the rarer questions: any one word, writing on, the words read so far.
void more_of_guess(Gui& gui, const char* label) {
  if (menu_button(gui, "guess menu", label)) ImGui::OpenPopup("more of the guess");
  if (!begin_menu_below(gui, "more of the guess")) return;
  ImGui::Dummy({240 * gui.unit, 0});
  word_search(gui);
  if (gui.state.trace->model->config.arch != Arch::encoder) {
    ImGui::NewLine();
    writing_on(gui);
    prefix(gui);
  }
  ImGui::EndPopup();
}

}  // namespace

void draw_guess(Gui& gui, const Box& slot) {
  const AppState& state = gui.state;
  if (slot.h <= 0 || !can_say_words(state) || nothing_asked(state)) return;
  const SlotScope scope("stage guess", slot);
  const bool writes = state.trace->model->config.arch != Arch::encoder;
  if (!writes && !guesses_mask(state)) return guess_bars(gui, slot);
  const char* more = gui.word(writes ? kChosenHeadWords.write_on : kChosenHeadWords.find_word);
  const float begin =
      slot.w - (state.generation ? button_width(gui.word(kChosenHeadWords.stop)) : menu_width(gui, more));
  guess_bars(gui, {slot.x, slot.y, begin - 8 * gui.unit, slot.h});
  ImGui::SetCursorPos({begin, 0});
  if (!state.generation) return more_of_guess(gui, more);
  if (flat_button(gui, "stop writing", gui.word(kChosenHeadWords.stop), true)) gui.push(StopGenerating{});
}

}  // namespace headlight
