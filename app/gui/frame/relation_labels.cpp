#include "gui/frame/relation_labels.h"

#include "document/bundled_models.h"
#include "figure/taught.h"
#include "gui/frame/draw.h"
#include "train/measure/treebank_scores.h"
#include "train/trained_checkpoint.h"
#include "words/answer_words.h"
#include "words/any_sentence_words.h"

namespace headlight {

MeasuredTitle measured_title(Gui& gui, const HeadRef& head, float room, const std::string& value) {
  const auto width = [&](const std::string& text) { return ImGui::CalcTextSize(gui.fonts.shown(text).c_str()).x; };
  MeasuredTitle title = measured_title(gui.state.settings.language, gui.state.document, head, value, room, width);
  title.relations = gui.fonts.shown(title.relations);
  return title;
}

void measured_line(Gui& gui, const HeadRef& head) {
  for (const RelationScore* one : relations_of(gui.state.document, head)) {
    ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().accent);
    const std::string& title = relation_title(gui.state.settings.language, *one);
    const std::string taught = taught_mark(gui.state.settings.language, gui.state.document, *one);
    ImGui::TextUnformatted(gui.fonts.shown(title + " " + score_text(one->score.accuracy) + taught).c_str());
    ImGui::PopStyleColor();
    gui.name_item("measured " + one->relation);
    const bool on_treebank = is_universal(*one);
    std::string tip = gui.word(on_treebank ? kAnySentenceWords.tip_measured : kAnswerWords.tip_measured) +
                      std::string("\n") +
                      gui.word(on_treebank ? kAnySentenceWords.pairs_of_words : kAnswerWords.held_out_sentences) +
                      std::to_string(one->sentences);
    if (!taught.empty()) {
      tip += std::string("\n") + gui.word(kAnySentenceWords.taught_head);
      for (const std::string& treebank : gui.state.document.card->treebanks) tip += "\n· " + treebank;
    }
    if (ImGui::IsItemHovered()) {
      const bool pronouns =
          gui.state.document.card->plan.corruption.restore > 0 && gui.state.document.card->plan.task == Task::masked;
      if (pronouns) tip += std::string("\n") + gui.word(kAnswerWords.supervised_pronouns);
      explain_item(gui, tip);
    }
    const float end = ImGui::GetItemRectMax().x + 8 * gui.unit;
    const FontScope small(gui, TextSize::small);
    const std::string beside =
        gui.fonts.shown(std::string(gui.word(kAnswerWords.position_alone)) + " " + score_text(one->kind_offset) +
                        " · " + gui.word(kAnswerWords.random_weights_score) + " " + score_text(one->random));
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    if (end + ImGui::CalcTextSize(beside.c_str()).x <= right) ImGui::SameLine(0, 8 * gui.unit);
    dim_text(gui, beside);
  }
}

}  // namespace headlight
