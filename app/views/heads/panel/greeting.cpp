#include "views/heads/panel/heads.h"

#include <algorithm>

#include "gui/actions/actions.h"
#include "gui/frame/draw.h"
#include "gui/frame/looks.h"
#include "words/lesson_words.h"

namespace headlight {

bool greeting(Gui& gui) {
  const AppState& state = gui.state;
  if (state.settings.greeted || state.view.lesson || !state.undo.empty()) return false;
  const bool lessons = state.lessons && !state.lessons->empty();
  const char* begin = gui.word(kLessonWords.begin);
  const float gap = 12 * gui.unit, cross = button_width("×"), end = ImGui::GetContentRegionMax().x - cross;
  const float link = lessons ? ImGui::CalcTextSize(begin).x + gap : 0;
  ImGui::AlignTextToFramePadding();
  const float room = end - ImGui::GetCursorPosX() - link - gap;
  std::vector<std::string> sentences;
  for (const Words& sentence : kLessonWords.greeting)
    sentences.push_back(with_keys(gui, sentence, {Act::choose_lesson, Act::show_keys}));
  cut_text(gui, whole_sentences(sentences, room), gui.colours().text, std::max(room, 0.0f));
  gui.name_item("greeting", BoxKind::label);
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
