#include <algorithm>
#include <cmath>
#include <variant>

#include "figure/figure.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/no_answer.h"
#include "gui/frame/texture_ids.h"
#include "gui/shell/file_choices.h"
#include "paper/figure_file.h"
#include "words/answer_words.h"
#include "words/file_words.h"

namespace headlight {
namespace {

/// A drawing on the screen: `scale` pixels a point, its top left corner at `origin`.
struct Canvas {
  Gui& gui;
  ImDrawList& list;
  ImVec2 origin;
  float scale;
  std::size_t maps = 0;  // that were drawn

  ImVec2 at(Point point) const { return {origin.x + scale * point.x, origin.y + scale * point.y}; }
  Box box(const Box& box) const {
    return {origin.x + scale * box.x, origin.y + scale * box.y, scale * box.w, scale * box.h};
  }
  float thick(float width) const { return std::max(0.5f, scale * width); }

  void operator()(const Cells& cells) {
    const Box place = box(cells.box);
    gui.maps.draw(list, cells.weights, preview_version(gui.state, maps++), top_left(place), bottom_right(place),
                  cells.scale, 1);
  }
  void operator()(const Ramp& ramp) {
    const Box place = box(ramp.box);
    const auto& map =
        ramp.scale.diverging ? diverging_map(ramp.scale.theme) : colour_map(ramp.scale.theme, ramp.scale.colours);
    const float step = place.w / static_cast<float>(map.size());
    for (std::size_t i = 0; i < map.size(); ++i) {
      const float x = place.x + step * static_cast<float>(i);
      list.AddRectFilled({x, place.y}, {x + step, place.bottom()}, to_imgui(map[i]));
    }
  }
  void operator()(const Rectangle& rectangle) {
    const Box place = box(rectangle.box);
    if (rectangle.fill) list.AddRectFilled(top_left(place), bottom_right(place), to_imgui(*rectangle.fill));
    if (rectangle.line)
      list.AddRect(top_left(place), bottom_right(place), to_imgui(*rectangle.line), 0, 0, thick(rectangle.width));
  }
  void operator()(const Stroke& stroke) {
    list.AddLine(at(stroke.from), at(stroke.to), to_imgui(stroke.colour), thick(stroke.width));
    if (stroke.head <= 0) return;
    const auto head = arrow_head(stroke);
    list.AddTriangleFilled(at(head[0]), at(head[1]), at(head[2]), to_imgui(stroke.colour));
  }
  void operator()(const Curve& curve) {
    const ImVec2 from = at(curve.from), to = at(curve.to);
    const float middle = (from.x + to.x) / 2;
    const ImU32 colour = (to_imgui(curve.colour) & ~IM_COL32_A_MASK) |
                         static_cast<ImU32>(std::lround(255 * curve.opacity)) << IM_COL32_A_SHIFT;
    list.AddBezierCubic(from, {middle, from.y}, {middle, to.y}, to, colour, thick(curve.width));
  }
  void operator()(const Text& text) {
    ImGui::SetWindowFontScale(kLineOfEm * text.size * scale / gui.fonts.pixels(TextSize::body));
    const std::string shown = gui.fonts.shown(text.text);
    const ImVec2 to = at(text.at);
    const ImU32 colour = to_imgui(text.colour);
    if (text.turn == TextRotation::stacked) return draw_stacked(list, to.x, to.y, colour, shown);
    if (text.turn == TextRotation::upwards) return draw_rotated(list, to.x, to.y, colour, shown);
    const float width = ImGui::CalcTextSize(shown.c_str()).x;
    const float left = text.anchor == Anchor::left    ? to.x
                       : text.anchor == Anchor::right ? to.x - width
                                                      : to.x - width / 2;
    list.AddText({left, to.y - ImGui::GetFontSize() / 2}, colour, shown.c_str());
  }
};

void draw_scaled(Gui& gui, const Drawing& drawing, const Box& place) {
  // No larger than on a screen of 144 points an inch: letters would be blurred.
  const float scale = std::min({place.w / drawing.width, place.h / drawing.height, 2 * gui.unit});
  const Box paper{place.x + (place.w - scale * drawing.width) / 2, place.y + (place.h - scale * drawing.height) / 2,
                  scale * drawing.width, scale * drawing.height};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(top_left(paper), bottom_right(paper), to_imgui(drawing.background));
  list.PushClipRect(top_left(paper), bottom_right(paper), true);
  gui.fonts.push(TextSize::body);
  Canvas canvas{gui, list, {paper.x, paper.y}, scale};
  for (const Item& item : drawing.items) std::visit(canvas, item);
  ImGui::SetWindowFontScale(1);
  ImGui::PopFont();
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

void figure_preview(Gui& gui, const Box& place) {
  const float line = ImGui::GetTextLineHeightWithSpacing();
  const Box above{place.x, place.y, place.w, place.h - line};
  const FilePreview* known = known_preview(gui.state);
  // An earlier picture stays until the new one is drawn.
  const FilePreview* shown = known ? known : gui.state.preview.get();
  if (shown && shown->picture.drawing) draw_scaled(gui, *shown->picture.drawing, above);
  ImGui::SetCursorScreenPos({place.x, known && known->picture.drawing ? above.bottom() : place.y});
  ImGui::BeginGroup();
  if (known && !known->problem.empty()) wrapped_small(gui, plain_lines(gui, known->problem), gui.colours().warning);
  else if (known) {
    if (!known->picture.drawing) wrapped_dim(gui, gui.word(kFileWords.page_computes));
    dim_text(gui, size_line(gui, *known));
    gui.name_item("figure size", BoxKind::label);
  } else if (!shown && file_question(gui.state)) dim_text(gui, gui.word(kAnswerWords.computing));
  ImGui::EndGroup();
}

}  // namespace headlight
