#include "gui/frame/relation_labels.h"

#include <algorithm>

#include "gui/frame/draw.h"
#include "session/head_grid.h"
#include "train/trained_checkpoint.h"
#include "words/answer_words.h"
#include "words/grid_words.h"
#include "words/sentence_words.h"

namespace headlight {

HeadName name_of_head(const Gui& gui, const HeadRef& head) {
  const AppState& state = gui.state;
  return head_name(state.settings.language, state.document, head, last_measures(state, head),
                   facts_of(state, head.stack));
}

MeasuredTitle measured_title(Gui& gui, const HeadRef& head, float room, const std::string& value) {
  const auto width = [&](const std::string& text) { return ImGui::CalcTextSize(gui.fonts.shown(text).c_str()).x; };
  MeasuredTitle title = measured_title(head, name_of_head(gui, head), value, room, width);
  title.relations = gui.fonts.shown(title.relations);
  return title;
}

void explain_name(const Gui& gui, const HeadName& name) {
  if (!ImGui::IsItemHovered() || name.words.empty()) return;
  const AppState& state = gui.state;
  std::string tip = name_explained(state.settings.language, name, facts_of(state, state.view.chosen.stack));
  const TrainingCard* card = state.document.card.get();
  if (name.relation && card && card->plan.corruption.restore > 0 && card->plan.task == Task::masked)
    tip += std::string("\n") + gui.word(kAnswerWords.supervised_pronouns);
  if (!name.taught.empty() && card) {
    tip += std::string("\n") + gui.word(kAnySentenceWords.taught_head);
    for (const std::string& treebank : card->treebanks) tip += "\n· " + treebank;
  }
  explain_item(gui, tip);
}

Index weights_by_hand(const AppState& state, const HeadRef& head) {
  const auto& weights = state.trace->request.edits.weights;
  return std::count_if(weights.begin(), weights.end(), [&](const WeightEdit& edit) { return edit.head == head; });
}

std::string words_by_hand(const Gui& gui, Index count) {
  return filled(gui.word(kStageWords.weights_by_hand), {std::to_string(count)});
}

void measured_line(Gui& gui, const HeadRef& head, float room) {
  const HeadName name = name_of_head(gui, head);
  const auto width_of = [&](const std::string& words) { return ImGui::CalcTextSize(gui.fonts.shown(words).c_str()).x; };
  const std::string text = gui.fonts.shown(name_within(name, room, width_of));
  const float needed = ImGui::CalcTextSize(text.c_str()).x, width = 48 * gui.unit;
  if (text.empty()) return;
  const ImU32 ink = name.doubtful || !name.relation ? gui.colours().dim : gui.colours().text;
  coloured_text(ink, text);
  gui.name_item(name.relation ? "measured " + name.relation->relation : "measured", BoxKind::label);
  explain_name(gui, name);
  if (!name.relation || needed + 8 * gui.unit + width > room) return;
  ImGui::SameLine(0, 8 * gui.unit);
  const float height = 6 * gui.unit;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy({width, ImGui::GetTextLineHeight()});
  explain_name(gui, name);
  const float y = at.y + (ImGui::GetTextLineHeight() - height) / 2;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto end_of = [&](double share) { return at.x + width * static_cast<float>(std::clamp(share, 0.0, 1.0)); };
  list.AddRectFilled({at.x, y}, {at.x + width, y + height}, gui.colours().line);
  list.AddRectFilled({at.x, y}, {end_of(name.score), y + height}, ink);
  const float tick = end_of(name.alone);
  list.AddLine({tick, y - 3 * gui.unit}, {tick, y + height + 3 * gui.unit}, gui.colours().text, gui.unit);
}

}  // namespace headlight
