#include "gui/frame/relation_labels.h"

#include <algorithm>

#include "card/training_card.h"
#include "gui/frame/draw.h"
#include "gui/frame/scene.h"
#include "session/head_grid.h"
#include "words/answer_words.h"
#include "words/grid_words.h"
#include "words/sentence_words.h"

namespace headlight {

HeadName name_of_head(const Gui& gui, const HeadRef& head) {
  const AppState& state = gui.state;
  HeadName name = head_name(state.settings.language, arcs_of(state), head, last_measures(state, head));
  if (state.trace) name.label = map_label(state.settings.language, *state.trace, head);
  return name;
}

TitleInks inks_of_title(const Gui& gui, const HeadTitle& title, bool lit, bool faint) {
  const Palette& colours = gui.colours();
  const auto ink = [&](ImU32 colour) { return to_rgb(faint ? colours.faint : colour); };
  const Rgb of_name = ink(title.named ? colours.text : colours.dim);
  return {.head = lit ? to_rgb(colours.accent) : ink(colours.text),
          .value = ink(colours.dim),
          .beside = of_name,
          .below = of_name};
}

void paint_head_title(Gui& gui, const HeadTitle& title, const Box& lines, const TitleInks& inks) {
  const TextWidth measure = window_measure(gui);
  Drawing scene;
  add_head_title(scene, title, {lines.x, lines.y}, gui.unit, inks, map_style(gui, measure));
  paint_scene(gui, scene, {});
}

void explain_name(const Gui& gui, const HeadRef& head, const HeadName& name) {
  if (!ImGui::IsItemHovered() || name.words.empty()) return;
  const AppState& state = gui.state;
  std::string tip = name_explained(state.settings.language, name);
  const TrainingCard* card = state.document.card.get();
  const auto pronouns = std::ranges::count(name.arcs, kPronounRelation, &NamedArc::relation);
  if (card && card->plan.corruption.restore > 0 && pronouns > 0)
    tip += std::string("\n") + gui.word(kAnswerWords.supervised_pronouns);
  const auto is_head = [&](const TaughtHead& one) { return HeadRef{one.layer, one.head} == head; };
  if (card && std::ranges::any_of(card->plan.teaching.heads, is_head)) {
    tip += std::string("\n") + gui.word(kAnySentenceWords.taught_head);
    const auto is_file = [](const std::string& one) { return one.find(".conllu") != std::string::npos; };
    const bool files_alone = std::ranges::all_of(card->treebanks, is_file);  // without names of their texts
    const char* before = " ";
    for (const std::string& treebank : card->treebanks) {
      if (is_file(treebank) && !files_alone) continue;
      tip += before + treebank.substr(0, treebank.find(','));  // without its licence
      before = "; ";
    }
  }
  explain_item(gui, tip);
}

Index weights_by_hand(const AppState& state, const HeadRef& head) {
  const auto& weights = state.trace->request.edits.weights;
  return std::ranges::count_if(weights, [&](const WeightEdit& edit) { return edit.head == head; });
}

std::string words_by_hand(const Gui& gui, Index count) {
  return filled(gui.word(kStageWords.weights_by_hand), {std::to_string(count)});
}

void measured_line(Gui& gui, const HeadRef& head, float room) {
  const HeadName name = name_of_head(gui, head);
  const auto width = [&](const std::string& words) { return shown_width(gui, words); };
  const std::string text = gui.fonts.shown(name_within(name, room, width));
  if (text.empty()) return;
  coloured_text(name.named ? gui.colours().text : gui.colours().dim, text);
  gui.name_item(name.named ? "measured " + name.arcs.front()->relation : "measured", BoxKind::label);
  explain_name(gui, head, name);
}

}  // namespace headlight
