#include "gui/frame/no_answer.h"

#include "gui/frame/draw.h"
#include "words/answer_words.h"

namespace headlight {

bool problem_line(Gui& gui) {
  const std::string& problem = problem_of(gui.state);
  if (problem.empty()) return false;
  wrapped_small(gui, gui.state.trace ? problem + " — " + gui.word(kAnswerWords.stale) : problem, gui.colours().warning);
  return true;
}

void nothing_yet(Gui& gui) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const auto centred = [&](const char* text) {
    ImGui::SetCursorPosX((room.x - ImGui::CalcTextSize(text).x) / 2);
    ImGui::TextUnformatted(text);
  };
  ImGui::SetCursorPosY(room.y * 0.4f);
  if (nothing_asked(gui.state)) {
    const FontScope title(gui, TextSize::title);
    centred(gui.word(kAnswerWords.empty_text));
  }
  if (nothing_asked(gui.state)) centred(gui.word(kAnswerWords.empty_hint));
  else if (problem_of(gui.state).empty()) centred(gui.word(kAnswerWords.computing));
}

}  // namespace headlight
