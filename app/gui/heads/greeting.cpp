#include "gui/heads/greeting.h"

#include "gui/actions/actions.h"
#include "gui/frame/draw.h"
#include "gui/frame/paragraph.h"
#include "words/lesson_words.h"

namespace headlight {

bool greeting(Gui& gui) {
  const AppState& state = gui.state;
  if (state.settings.greeted || state.view.lesson) return false;
  const ImVec2 padding = ImGui::GetStyle().FramePadding, corner = ImGui::GetCursorScreenPos();
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const float room = space.x - button_width("×");
  std::vector<Paragraph> sentences;
  float height = 0;
  for (const Words& sentence : kLessonWords.greeting)
    height +=
        sentences.emplace_back(paragraph(gui, with_keys(gui, sentence, {Act::choose_lesson, Act::show_keys}), room))
            .height;
  if (height > 0.4f * space.y) return false;  // the maps come first
  float y = corner.y + padding.y;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    draw_paragraph(gui, sentences[i], {corner.x, y}, gui.colours().text, ("greeting " + std::to_string(i)).c_str(),
                   room);
    y += sentences[i].height;
  }
  ImGui::SetCursorScreenPos({corner.x + room, corner.y});
  if (flat_button(gui, "dismiss greeting", "×")) {
    Settings settings = state.settings;
    settings.greeted = true;
    gui.say(SetSettings{settings});
  }
  explain_item(gui, kLessonWords.tip_dismiss);
  ImGui::SetCursorScreenPos({corner.x - padding.x, y});
  if (state.lessons && !state.lessons->empty() && flat_button(gui, "first lesson", gui.word(kLessonWords.begin)))
    gui.say(OpenLesson{0});
  return true;
}

}  // namespace headlight
