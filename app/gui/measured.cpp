#include <cstdio>

#include "gui/controls.h"
#include "gui/panels.h"
#include "session/shipped.h"
#include "train/saved.h"

namespace headlight {
namespace {

std::string score_text(double score) {
  char text[16];
  std::snprintf(text, sizeof text, "%.2f", score);
  return text;
}

const std::string& label(const Gui& gui, const RelationScore& relation) {
  return gui.chinese() ? relation.zh : relation.en;
}

}  // namespace

MeasuredTitle measured_title(const Gui& gui, const HeadRef& head, const std::string& title, float room,
                             const std::string& value) {
  const std::vector<const RelationScore*> measured = relations_of(gui.state.document, head);
  const std::string number = std::to_string(head.layer + 1) + "·" + std::to_string(head.head + 1);
  const auto fits = [&](const MeasuredTitle& choice) {
    return ImGui::CalcTextSize((choice.head + choice.value + choice.relations).c_str()).x <= room;
  };
  if (measured.empty()) {
    for (MeasuredTitle choice : {MeasuredTitle{title, {}, value}, {number, {}, value}})
      if (value.empty() || fits(choice)) return choice;
    return {number, {}, {}};
  }
  std::string labels, codes, names;
  for (const RelationScore* one : measured) {
    labels += "  " + gui.fonts.shown(label(gui, *one)) + " " + score_text(one->score.accuracy);
    codes += "  " + one->relation + " " + score_text(one->score.accuracy);
    names += "  " + one->relation;
  }
  for (MeasuredTitle choice : {MeasuredTitle{title, labels, value}, {number, labels, value}, {title, codes, value},
                               {number, codes, value}, {number, names, value}, {number, {}, value}})
    if ((!choice.relations.empty() || !value.empty()) && fits(choice)) return choice;
  return {number, names};
}

void measured_line(Gui& gui, const HeadRef& head) {
  for (const RelationScore* one : relations_of(gui.state.document, head)) {
    ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().accent);
    ImGui::TextUnformatted(gui.fonts.shown(label(gui, *one) + " " + score_text(one->score.accuracy)).c_str());
    ImGui::PopStyleColor();
    gui.name_item("measured " + one->relation);
    std::string tip = gui.word(Str::tip_measured) + std::string("\n") + gui.word(Str::held_out_sentences) +
                      std::to_string(one->sentences);
    if (ImGui::IsItemHovered()) {
      const bool pronouns = gui.state.document.card->plan.corruption.restore > 0 &&
                            gui.state.document.card->plan.task == Task::masked;
      if (pronouns) tip += std::string("\n") + gui.word(Str::supervised_pronouns);
      explain_item(gui, tip);
    }
    const float end = ImGui::GetItemRectMax().x + 8 * gui.unit;
    const FontScope small(gui, TextSize::small);
    const std::string beside = gui.fonts.shown(std::string(gui.word(Str::position_alone)) + " " +
                                               score_text(one->kind_offset) + " · " +
                                               gui.word(Str::random_weights_score) + " " + score_text(one->random));
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    if (end + ImGui::CalcTextSize(beside.c_str()).x <= right) ImGui::SameLine(0, 8 * gui.unit);
    dim_text(gui, beside);
  }
}

}  // namespace headlight
