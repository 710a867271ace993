#include <algorithm>
#include <cstring>

#include "base/formatted.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "math/output.h"
#include "views/heads/panel/stage_parts.h"
#include "views/heads/panel/stage_sentence.h"
#include "words/chosen_head_words.h"

namespace headlight {
namespace {

/// The probabilities without edits, where they are known and differ.
Vector before(const AppState& state) {
  if (!is_edited(state) || !state.baseline || state.baseline->logits.size() != state.trace->logits.size()) return {};
  return probabilities(state.baseline->logits);
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
  std::string text = state.view.word;
  if (word_box(gui, "find word", kChosenHeadWords.find_word, text, 96 * gui.unit)) gui.push(SearchWord{text});
  explain_item(gui, kChosenHeadWords.tip_find_word);
  ImGui::SameLine(0, 8 * gui.unit);
  if (state.view.word.empty()) return;
  const Trace& trace = *state.trace;
  const auto row = find_word(*trace.model, state.view.word);
  if (!row) return lead(gui, gui.word(kChosenHeadWords.no_such_word));
  GuessedWord found{candidate(*trace.model, probabilities(trace.logits), *row)};
  if (const Vector earlier = before(state); earlier.size() > 0) found.before = earlier(*row);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  guessed_word(gui, found, at, 1e6f, trace.model->config.arch != Arch::encoder);
  ImGui::SameLine(0, 6 * gui.unit);
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
