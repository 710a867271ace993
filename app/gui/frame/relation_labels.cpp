#include "gui/frame/relation_labels.h"

#include "document/bundled_models.h"
#include "gui/frame/draw.h"
#include "train/trained_checkpoint.h"
#include "words/answer_words.h"

namespace headlight {

MeasuredTitle measured_title(Gui& gui, const HeadRef& head, float room, const std::string& value) {
  const auto width = [&](const std::string& text) { return ImGui::CalcTextSize(gui.fonts.shown(text).c_str()).x; };
  MeasuredTitle title = measured_title(gui.state.settings.language, gui.state.document, head, value, room, width);
  title.relations = gui.fonts.shown(title.relations);
  return title;
}

void measured_line(Gui& gui, const HeadRef& head, float room) {
  const Language language = gui.state.settings.language;
  for (const RelationScore* one : relations_of(gui.state.document, head)) {
    const std::string text = gui.fonts.shown(relation_title(language, *one) + " " + score_text(one->score.accuracy));
    const float width = ImGui::CalcTextSize(text.c_str()).x + 12 * gui.unit;
    if (width > room) return;
    room -= width;
    ImGui::TextUnformatted(text.c_str());
    gui.name_item("measured " + one->relation, BoxKind::label);
    if (ImGui::IsItemHovered()) {
      std::string tip = gui.word(kAnswerWords.tip_measured) + std::string("\n") +
                        gui.word(kAnswerWords.position_alone) + " " + score_text(one->kind_offset) + " · " +
                        gui.word(kAnswerWords.random_weights_score) + " " + score_text(one->random) + "\n" +
                        gui.word(kAnswerWords.held_out_sentences) + std::to_string(one->sentences);
      const bool pronouns =
          gui.state.document.card->plan.corruption.restore > 0 && gui.state.document.card->plan.task == Task::masked;
      if (pronouns) tip += std::string("\n") + gui.word(kAnswerWords.supervised_pronouns);
      explain_item(gui, tip);
    }
    ImGui::SameLine(0, 12 * gui.unit);
  }
}

}  // namespace headlight
