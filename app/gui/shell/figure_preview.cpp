#include <algorithm>
#include <cmath>

#include "figure/figure.h"
#include "gui/frame/draw.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/scene.h"
#include "gui/frame/texture_ids.h"
#include "gui/shell/file_choices.h"
#include "paper/figure_file.h"
#include "words/answer_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

void draw_scaled(Gui& gui, const Drawing& drawing, const Box& area) {
  // No larger than on a screen of 144 points an inch: letters would be blurred.
  const float scale = std::min({area.w / drawing.width, area.h / drawing.height, 2 * gui.unit});
  const Box paper{area.x + (area.w - scale * drawing.width) / 2, area.y + (area.h - scale * drawing.height) / 2,
                  scale * drawing.width, scale * drawing.height};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(top_left(paper), bottom_right(paper), to_imgui(drawing.background));
  list.PushClipRect(top_left(paper), bottom_right(paper), true);
  paint_scene(gui, drawing, {.origin = top_left(paper), .scale = scale, .version = [&](std::size_t map) {
                               return preview_version(gui.state, map);
                             }});
  list.PopClipRect();
  list.AddRect(top_left(paper), bottom_right(paper), gui.colours().outline, 0, 0, gui.unit);
  gui.name_box("figure preview", paper, BoxKind::label);
}

std::string size_line(const Gui& gui, const FilePreview& preview) {
  std::string line;
  if (const Drawing* drawing = preview.picture.drawing.get()) {
    const auto both = [](float width, float height, const char* unit) {
      return std::to_string(std::lround(width)) + " × " + std::to_string(std::lround(height)) + " " + unit + " · ";
    };
    line = both(drawing->width / kPointsInMm, drawing->height / kPointsInMm, gui.word(kFileWords.millimetres));
    const float dots = kFigureDpi / 72;
    if (preview.question.ending == ".png") line += both(dots * drawing->width, dots * drawing->height, "px");
  }
  return line + (preview.picture.drawing ? "" : gui.word(kFileWords.about)) + bytes_in_words(preview.picture.bytes);
}

}  // namespace

void figure_preview(Gui& gui, const Box& area) {
  const float line = ImGui::GetTextLineHeightWithSpacing();
  const Box above{area.x, area.y, area.w, area.h - line};
  const FilePreview* known = known_preview(gui.state);
  // An earlier picture stays until the new one is drawn.
  const FilePreview* shown = known ? known : gui.state.preview.get();
  if (shown && shown->picture.drawing && above.h > 0) draw_scaled(gui, *shown->picture.drawing, above);
  ImGui::SetCursorScreenPos({area.x, known && known->picture.drawing ? above.bottom() : area.y});
  ImGui::BeginGroup();
  if (known && known->problem) wrapped_small(gui, plain_lines(gui, *known->problem), gui.colours().warning);
  else if (known) {
    if (!known->picture.drawing) wrapped_dim(gui, gui.word(kFileWords.page_computes));
    dim_text(gui, size_line(gui, *known));
    gui.name_item("figure size", BoxKind::label);
  } else if (!shown && file_question(gui.state)) dim_text(gui, gui.word(kAnswerWords.computing));
  ImGui::EndGroup();
}

}  // namespace headlight
