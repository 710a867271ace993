#include "study/view/study_window.h"

#include <algorithm>
#include <cmath>

#include "gui/actions/possible.h"
#include "gui/actions/pushes.h"
#include "gui/frame/draw.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/scene.h"
#include "gui/frame/texture_ids.h"
#include "study/shown_study.h"
#include "study/study_action_words.h"
#include "words/answer_words.h"

namespace headlight {
namespace {

constexpr float kPageMm = 170;  // as wide as a figure over both columns of a page of print

void study_panel(Gui& gui) {
  const ShownStudy& shown = part<ShownStudy>(gui.state);
  if (flat_button(gui, "read again", gui.word(kStudyActionWords.read_again))) gui.push(OpenStudy{shown.asked->path});
  explain_item(gui, kStudyActionWords.tip_read_again);
  ImGui::SameLine(0, 12 * gui.unit);
  ImGui::AlignTextToFramePadding();
  cut_text(gui, gui.fonts.shown(shown.asked->path), gui.colours().dim, ImGui::GetContentRegionAvail().x);
  const StudyPicture* picture = shown.picture.get();
  if (!picture) return dim_text(gui, gui.word(kAnswerWords.computing));
  for (const Error& warning : picture->warnings) wrapped_small(gui, plain_line(gui, warning), gui.colours().warning);
  FigureOptions options{.theme = gui.state.settings.theme,
                        .language = gui.state.settings.language,
                        .colours = gui.state.settings.colours,
                        .width = kPageMm * kPointsInMm};
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x;
  const float scale = std::min(room / options.width, 2 * gui.unit);
  const Drawing drawing = picture->draw(options, window_measure(gui));
  const float left = std::floor(at.x + (room - scale * drawing.width) / 2);
  paint_scene(gui, drawing, {.origin = {left, at.y}, .scale = scale, .version = [&](std::size_t map) {
                               return tool_version(shown.picture.version(), map);
                             }});
  for (const Hit& hit : drawing.hits)
    gui.name_box(hit.name, {left + scale * hit.box.x, at.y + scale * hit.box.y, scale * hit.box.w, scale * hit.box.h},
                 BoxKind::label);
  ImGui::Dummy({room, scale * drawing.height});
  gui.name_item("study figure", BoxKind::label);
}

constexpr ToolAction kStudyActions[] = {{"show_study",
                                         Act::show_compare,
                                         {Act::count,
                                          ActionGroup::views,
                                          kStudyActionWords.show_study,
                                          {},
                                          [](const Gui& gui) { return can_show(gui.state, View::study); },
                                          pushes::push_value<ShowView{View::study}>}}};

}  // namespace

const ToolWindow kStudyWindow{.actions = kStudyActions, .view = study_panel};

}  // namespace headlight
