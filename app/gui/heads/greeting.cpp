#include "gui/heads/greeting.h"

#include <algorithm>

#include "gui/actions/actions.h"
#include "gui/actions/question.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "words/grid_words.h"
#include "words/train_words.h"

namespace headlight {

namespace {

/// In the English window beside the Chinese sentence that it opens on: the first example in English.
const Sample* english_example(const Gui& gui) {
  if (gui.chinese() || gui.state.document.source.text != kDefaultSentence) return nullptr;
  for (const Sample& sample : gui.samples)
    if (!sample.change.empty() && static_cast<unsigned char>(sample.text.front()) < 0x80) return &sample;
  return nullptr;
}

std::string english_label(const Gui& gui, const Sample& sample) {
  return filled(gui.word(kStageWords.english_sentence), {sample.text});
}

}  // namespace

bool greeting(Gui& gui) {
  const AppState& state = gui.state;
  if (state.settings.greeted || state.view.lesson || !state.undo.empty()) return false;
  const bool lessons = state.lessons && !state.lessons->empty();
  const char* begin = gui.word(kLessonWords.begin);
  const float gap = 12 * gui.unit, cross = button_width("×"), end = ImGui::GetContentRegionMax().x - cross;
  float link = lessons ? ImGui::CalcTextSize(begin).x + gap : 0;
  const Sample* english = english_example(gui);
  ImGui::AlignTextToFramePadding();
  const float all = end - ImGui::GetCursorPosX() - link - gap;
  // The English sentence stands in its link where that leaves room to explain a map, else under the pointer.
  std::string try_english = english ? english_label(gui, *english) : std::string();
  const auto beside = [&] { return english ? all - ImGui::CalcTextSize(try_english.c_str()).x - gap : all; };
  const float least = ImGui::CalcTextSize(gui.word(kLessonWords.greeting[0])).x +
                      ImGui::CalcTextSize(gui.word(kLessonWords.greeting[1])).x;
  const bool whole = beside() >= least + gap;
  if (!whole) try_english = gui.word(kStageWords.english_short);
  const float room = beside();
  std::vector<std::string> sentences;
  for (const Words& sentence : kLessonWords.greeting)
    sentences.push_back(with_keys(gui, sentence, {Act::choose_lesson, Act::show_keys}));
  std::string line = whole_sentences(sentences, room);
  if (english && room < 160 * gui.unit) line.clear();  // what there is to click comes first
  cut_text(gui, line, gui.colours().text, std::max(room, 0.0f));
  gui.name_item("greeting", BoxKind::label);
  if (english) {
    ImGui::SameLine(0, gap);
    if (link_button(gui, "english example", try_english.c_str())) take_sample(gui, *english);
    if (!whole) explain_item(gui, english->text);
  }
  if (lessons) {
    ImGui::SameLine(0, gap);
    if (link_button(gui, "first lesson", begin)) gui.push(OpenLesson{0});
  }
  ImGui::SameLine(end);
  if (flat_button(gui, "dismiss greeting", "×")) {
    Settings settings = state.settings;
    settings.greeted = true;
    gui.push(SetSettings{settings});
  }
  explain_item(gui, kLessonWords.tip_dismiss);
  return true;
}

}  // namespace headlight
