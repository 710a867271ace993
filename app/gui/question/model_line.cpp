// The model that answers, in words, and whether it was loaded right.
#include "card/training_card.h"
#include "figure/labels.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/question/question.h"
#include "models/model_choice.h"
#include "read/external/page_text.h"
#include "session/model_check.h"
#include "words/figure_words.h"
#include "words/head_name_words.h"
#include "words/model_words.h"
#include "words/relation_words.h"
#include "words/sentence_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

/// The name of the model that answers.
std::string model_name(Gui& gui) {
  const Document& document = gui.state.document;
  if (is_any_sentence(document)) return gui.fonts.shown(gui.word(kAnySentenceWords.model));
  if (is_shipped(document) && reads_picture(document)) return gui.fonts.shown(gui.word(kFigureWords.shapes_model));
  const bool of_grammar = !document.card || document.card->corpus == "grammar";
  if (is_shipped(document) && of_grammar) return gui.fonts.shown(gui.word(kWindowWords.trained_model));
  if (document.model && document.trained && !is_shipped(document))
    return gui.fonts.shown(std::string(gui.word(kWindowWords.trained_here)) + " " +
                           model_name_in(gui.state.settings.language, document.model->name));
  if (document.model && document.numbers)
    return document.model_path.starts_with(kNumbersSource) ? gui.word(kNumberWords.title)
                                                           : gui.fonts.shown(document.model->name);
  const Words& kind = !document.model || !document.model->given ? kWindowWords.checkpoint
                      : names_page(document.model_path)         ? kFileWords.page
                      : document.model->blocks.empty()          ? kWindowWords.attention_file
                                                                : kWindowWords.tensors_model;
  if (document.model) return gui.fonts.shown(std::string(gui.word(kind)) + " " + document.model->name);
  return std::string(gui.word(kWindowWords.random_model)) + " · " + gui.word(kModelWords.seed) + " " +
         std::to_string(document.config.seed);
}

/// The contents of a badge: its colour, its words, and whether it is a tick.
struct Badge {
  ImU32 colour;
  std::string text;
  bool tick = false;
};

ImU32 mark_colour(const Gui& gui, Severity severity) {
  const bool dark = gui.state.settings.theme == Theme::dark;
  switch (severity) {
    case Severity::good: return dark ? IM_COL32(110, 201, 128, 255) : IM_COL32(30, 126, 52, 255);
    case Severity::note: return gui.colours().dim;
    case Severity::warning: return gui.colours().caution;
    case Severity::error: return gui.colours().warning;
  }
  return gui.colours().text;
}

Badge badge_of(Gui& gui, const std::vector<Finding>& findings) {
  const Severity worst = gravest(findings);
  if (worst <= Severity::note && agrees_with_reference(findings))
    return {mark_colour(gui, Severity::good), gui.word(kWindowWords.check_agrees), true};
  if (worst <= Severity::note) return {mark_colour(gui, Severity::note), gui.word(kWindowWords.check_passed), true};
  return {mark_colour(gui, worst),
          gui.word(worst == Severity::warning ? kWindowWords.check_doubtful : kWindowWords.check_wrong)};
}

/// A tick, or a filled circle with a stroke in it, in a square of the text's height.
void draw_mark(const Gui& gui, ImVec2 at, float size, ImU32 colour, bool tick) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (tick) {
    const ImVec2 points[] = {{at.x + 0.15f * size, at.y + 0.55f * size},
                             {at.x + 0.4f * size, at.y + 0.8f * size},
                             {at.x + 0.85f * size, at.y + 0.25f * size}};
    list.AddPolyline(points, 3, colour, 0, 2 * gui.unit);
    return;
  }
  const ImVec2 middle{at.x + size / 2, at.y + size / 2};
  list.AddCircleFilled(middle, 0.36f * size, colour);
  list.AddLine({middle.x, middle.y - 0.2f * size}, {middle.x, middle.y + 0.06f * size}, gui.colours().panel,
               1.5f * gui.unit);
  list.AddCircleFilled({middle.x, middle.y + 0.19f * size}, gui.unit, gui.colours().panel);
}

/// All that was found, the gravest first.
std::string all_findings(const Gui& gui, const Badge& badge, const std::vector<Finding>& findings) {
  std::string lines = badge.text;
  for (const Severity severity : {Severity::error, Severity::warning, Severity::note, Severity::good})
    for (const Finding& finding : findings)
      if (finding.severity == severity)
        lines += std::string(severity <= Severity::note ? "\n· " : "\n! ") +
                 (gui.chinese() ? std::string(gui.word(failure_words(finding.code))) + " " : "") + finding.line;
  return lines;
}

/// Whether the checkpoint was loaded right: a tick, in words only where there is a doubt. All that was found is under
/// the pointer.
void check_badge(Gui& gui, const std::vector<Finding>& findings, float room) {
  const float size = ImGui::GetTextLineHeight();
  const Badge badge = badge_of(gui, findings);
  ImGui::BeginGroup();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float pad = ImGui::GetStyle().FramePadding.y;
  draw_mark(gui, {at.x, at.y + pad}, size, badge.colour, badge.tick);
  ImGui::Dummy({size, size + pad});
  if (!badge.tick) {
    ImGui::SameLine(0, 4 * gui.unit);
    cut_text(gui, badge.text, badge.colour, room - size - 4 * gui.unit);
  }
  ImGui::EndGroup();
  gui.name_item("check", BoxKind::label);
  if (ImGui::IsItemHovered()) show_tip(gui, all_findings(gui, badge, findings));
}

}  // namespace

void model_line(Gui& gui, float width, const Cursor& cursor) {
  const float gap = 8 * gui.unit;
  if (width < 40 * gui.unit || doubt_line(gui, width, cursor)) return;
  const std::vector<Finding>* findings = findings_of_model(gui.state);
  const bool checked = findings != nullptr, doubtful = checked && !badge_of(gui, *findings).tick;
  const float mark = checked ? gap + ImGui::GetTextLineHeight() : 0;
  const SentenceArcs& arcs = arcs_of(gui.state);
  const bool unnamed = arcs.named.empty() && arcs.unnamed != Unnamed::no_relation;
  const char* reason = gui.word(kHeadNameWords.unnamed[static_cast<int>(arcs.unnamed)]);
  const float room = doubtful ? width / 2 : width - mark;
  ImGui::AlignTextToFramePadding();
  const bool any = is_any_sentence(gui.state.document),
             is_long = any && gui.state.trace && gui.state.trace->queries() > 80;
  const std::string model = is_long ? gui.word(kAnySentenceWords.of_short) : model_name(gui);
  const std::string line = unnamed ? whole_sentences({reason, model}, room) : model;
  cut_text(gui, line, gui.colours().dim, room);
  gui.name_item(unnamed ? "unnamed cells" : "model line", BoxKind::label);
  if (unnamed || any) explain_item(gui, unnamed ? kHeadNameWords.tip_unnamed : kAnySentenceWords.tip_chosen);
  if (!checked || (line == reason && !doubtful)) return;  // a tick is of the model that is named
  ImGui::SameLine(0, gap);
  check_badge(gui, *findings, width / 2 - gap);
}

}  // namespace headlight
