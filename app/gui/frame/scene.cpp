#include "gui/frame/scene.h"

#include <algorithm>
#include <cmath>

#include "figure/map_scene.h"
#include "gui/frame/draw.h"
#include "gui/frame/motion.h"

namespace headlight {
namespace {

/// Pieces of all curves together, and of one: few curves are drawn rounder. A frame's corners must fit 16-bit numbers.
constexpr int kMostSegments = 11000, kLeastOfCurve = 12, kMostOfCurve = 32;

class Painter {
 public:
  Painter(Gui& gui, ImDrawList& list, const Drawing& scene, const SceneView& view)
      : gui_(gui), view_(view), list_(list) {
    const auto curves =
        std::ranges::count_if(scene.items, [](const Item& item) { return std::holds_alternative<Curve>(item); });
    segments_ = std::clamp(kMostSegments / std::max(1, static_cast<int>(curves)), kLeastOfCurve, kMostOfCurve);
  }

  void operator()(const Cells& cells) {
    const ImVec2 min = exactly_at({cells.box.x, cells.box.y}),
                 max = exactly_at({cells.box.right(), cells.box.bottom()});
    const Box on{min.x, min.y, max.x - min.x, max.y - min.y};
    const std::size_t number = maps_++;
    if (cells.weights->size() == 0 || !in_sight(on)) return;
    const std::uint64_t version = view_.version(number);
    if (gui_.motion && view_.slot != 0)
      gui_.motion->draw(gui_.maps, list_, view_.slot, *cells.weights, version, on, cells.scale,
                        view_.opacity * cells.opacity);
    else gui_.maps.draw(list_, *cells.weights, version, min, max, cells.scale, view_.opacity * cells.opacity);
  }
  void operator()(const Image& image) const {
    gui_.maps.draw_picture(list_, image.picture, exactly_at({image.box.x, image.box.y}),
                           exactly_at({image.box.right(), image.box.bottom()}));
  }
  void operator()(const Ramp& ramp) const {
    const ColourScale& scale = ramp.scale;
    const auto& map = scale.diverging ? diverging_map(scale.theme) : colour_map(scale.theme, scale.colours);
    const Box on = box(ramp.box);
    for (int i = 0; i < 256; ++i)
      list_.AddRectFilled({on.x + on.w * static_cast<float>(i) / 256, on.y},
                          {on.x + on.w * static_cast<float>(i + 1) / 256, on.bottom()},
                          to_imgui(map[static_cast<std::size_t>(i)]));
  }
  void operator()(const Rectangle& rectangle) const {
    const Box on = box(rectangle.box);
    const float corner = view_.scale * rectangle.corner;
    if (rectangle.fill)
      list_.AddRectFilled(top_left(on), bottom_right(on), to_imgui(*rectangle.fill, rectangle.opacity), corner);
    if (rectangle.line)
      list_.AddRect(top_left(on), bottom_right(on), to_imgui(*rectangle.line), corner, 0, thick(rectangle.width));
  }
  void operator()(const Stroke& stroke) const {
    const ImVec2 from = at(stroke.from), to = at(stroke.to);
    list_.AddLine(from, to, to_imgui(stroke.colour), thick(stroke.width));
    if (stroke.head <= 0) return;
    // Over the middle of the line, which Dear ImGui moves by half a pixel.
    const auto head =
        arrow_head({{from.x + 0.5f, from.y + 0.5f}, {to.x + 0.5f, to.y + 0.5f}, 1, {}, view_.scale * stroke.head});
    list_.AddTriangleFilled({head[0].x, head[0].y}, {head[1].x, head[1].y}, {head[2].x, head[2].y},
                            to_imgui(stroke.colour));
  }
  void operator()(const Curve& curve) const {
    const ImVec2 from = exactly_at(curve.from), to = exactly_at(curve.to);
    const float middle = (from.x + to.x) / 2, width = view_.scale * curve.width;
    // A line of less than a pixel is a pixel wide and so much fainter.
    const float faint = std::clamp(width / gui_.unit, 0.4f, 1.0f);
    list_.AddBezierCubic(from, {middle, from.y}, {middle, to.y}, to,
                         to_imgui(curve.colour, curve.opacity * faint * view_.opacity), std::max(width, gui_.unit),
                         segments_);
  }
  void operator()(const Path& path) const {
    // A line of less than a pixel is a pixel wide and so much fainter.
    const float width = view_.scale * path.width, faint = std::clamp(width / gui_.unit, 0.4f, 1.0f);
    const ImU32 colour = to_imgui(path.colour, path.opacity * faint * view_.opacity);
    const float wide = std::max(width, gui_.unit);
    list_.PathLineTo(exactly_at(path.points.front()));
    for (std::size_t i = 1; i + 2 < path.points.size(); i += 3)
      list_.PathBezierCubicCurveTo(exactly_at(path.points[i]), exactly_at(path.points[i + 1]),
                                   exactly_at(path.points[i + 2]), path.dash > 0 ? 4 * kMostOfCurve : 0);
    if (path.dash > 0) stroke_dashes(colour, wide, view_.scale * path.dash);
    else list_.PathStroke(colour, 0, wide);
    if (path.head <= 0) return;
    const auto head = arrow_head(path);
    const ImVec2 a = exactly_at(head[0]), b = exactly_at(head[1]), c = exactly_at(head[2]);
    list_.AddTriangleFilled(a, b, c, colour);
  }
  void operator()(const Text& text) const {
    const float line = kLineOfEm * text.size * view_.scale;
    if (line < 1) return;  // no room: Dear ImGui ends the program over a font without height
    const TextSize size = font_for(gui_, line);
    const FontScope font(gui_, size);
    const bool scaled = std::abs(line - ImGui::GetFontSize()) > kUnscaled;
    if (scaled) ImGui::SetWindowFontScale(line / ImGui::GetFontSize());
    const std::string shown = gui_.fonts.shown(text.text, size);
    const ImVec2 to = at(text.at);
    const ImU32 colour = to_imgui(text.colour);
    if (text.turn == TextRotation::stacked) draw_stacked(list_, to.x, to.y, colour, shown);
    else if (text.turn == TextRotation::upwards) draw_rotated(list_, to.x, to.y, colour, shown);
    else {
      const float shift = text.anchor == Anchor::left ? 0 : text.anchor == Anchor::middle ? 0.5f : 1;
      const float width = shift > 0 ? ImGui::CalcTextSize(shown.c_str()).x : 0, y = exactly_at(text.at).y;
      const int first = list_.VtxBuffer.Size;
      list_.AddText(rounded({exactly_at(text.at).x - shift * width, y - ImGui::GetFontSize() / 2}), colour,
                    shown.c_str());
      if (scaled) keep_thin_bars(first);
    }
    if (scaled) ImGui::SetWindowFontScale(1);
  }

  /// A bar that is thinner than a pixel, as of a minus in smaller type, would lie between two rows of them and be lost.
  void keep_thin_bars(int first) const {
    for (int corner = first; corner + 3 < list_.VtxBuffer.Size; corner += 4) {
      ImDrawVert* const glyph = &list_.VtxBuffer[corner];  // clockwise from its upper left corner
      const float top = std::floor((glyph[0].pos.y + glyph[2].pos.y) / 2);
      if (glyph[2].pos.y - glyph[0].pos.y >= 1) continue;
      glyph[0].pos.y = glyph[1].pos.y = top;
      glyph[2].pos.y = glyph[3].pos.y = top + 1;
    }
  }

  void paint(const Item& item) {
    if (std::holds_alternative<Cells>(item) || in_sight(box(bounds(item)))) std::visit(*this, item);
  }

  /// Strokes the path of the list with gaps of two thirds of a dash.
  void stroke_dashes(ImU32 colour, float width, float dash) const {
    const ImVector<ImVec2> points = list_._Path;
    list_.PathClear();
    float at = 0;  // along the path, within a dash and its gap
    const float period = dash * 5 / 3;
    for (int i = 0; i + 1 < points.Size; ++i) {
      const ImVec2 a = points[i], b = points[i + 1];
      const float length = std::hypot(b.x - a.x, b.y - a.y);
      for (float done = 0; length > 0 && done < length;) {
        const bool draws = at < dash;
        const float step = std::min(length - done, (draws ? dash : period) - at), from = done / length,
                    to = (done + step) / length;
        if (draws)
          list_.AddLine({a.x + from * (b.x - a.x), a.y + from * (b.y - a.y)},
                        {a.x + to * (b.x - a.x), a.y + to * (b.y - a.y)}, colour, width);
        done += std::max(step, 0.01f);
        at = at + step >= period - 0.01f ? 0 : at + step;
      }
    }
  }

 private:
  bool in_sight(const Box& on) const {
    const ImVec2 least = list_.GetClipRectMin(), most = list_.GetClipRectMax();
    return on.right() >= least.x && on.x <= most.x && on.bottom() >= least.y && on.y <= most.y;
  }
  bool is_whole() const { return view_.scale == 1; }
  ImVec2 rounded(ImVec2 at) const { return is_whole() ? ImVec2{std::round(at.x), std::round(at.y)} : at; }
  ImVec2 exactly_at(Point point) const {
    return {view_.origin.x + view_.scale * point.x, view_.origin.y + view_.scale * point.y};
  }
  ImVec2 at(Point point) const { return rounded(exactly_at(point)); }
  Box box(const Box& box) const {
    const ImVec2 min = at({box.x, box.y}), max = at({box.right(), box.bottom()});
    return {min.x, min.y, max.x - min.x, max.y - min.y};
  }
  float thick(float width) const { return std::max(0.5f, view_.scale * width); }

  Gui& gui_;
  const SceneView& view_;
  ImDrawList& list_;
  int segments_ = 0;
  std::size_t maps_ = 0;  // that were met
};

}  // namespace

void paint_scene(Gui& gui, ImDrawList& list, const Drawing& scene, const SceneView& view) {
  Painter painter(gui, list, scene, view);
  for (const Item& item : scene.items) painter.paint(item);
}

void paint_scene(Gui& gui, const Drawing& scene, const SceneView& view) {
  paint_scene(gui, *ImGui::GetWindowDrawList(), scene, view);
}

void paint_ramp(Gui& gui, ImDrawList& list, const Ramp& ramp) {
  Drawing scene;
  add_ramp(scene, ramp, gui.fonts.pixels(TextSize::small) / kLineOfEm, ink_colours(gui.state.settings.theme),
           {gui.unit, 1}, window_measure(gui));
  paint_scene(gui, list, scene, {});
}

HitState scene_buttons(Gui& gui, const Drawing& scene, ImVec2 origin) {
  HitState state;
  const ImVec2 window = ImGui::GetWindowPos();
  for (std::size_t i = 0; i < scene.hits.size(); ++i) {
    const Box box = moved(scene.hits[i].box, {origin.x, origin.y});
    if (box.bottom() < window.y || box.y > window.y + ImGui::GetWindowHeight()) continue;
    ImGui::SetCursorScreenPos(top_left(box));
    if (ImGui::InvisibleButton(scene.hits[i].name.c_str(), {box.w, box.h})) state.clicked = i;
    if (ImGui::IsItemHovered()) state.hovered = i;
    gui.name_box(scene.hits[i].name, box, BoxKind::button);
  }
  return state;
}

std::optional<std::size_t> pointed_hit(Gui& gui, const Drawing& scene, ImVec2 origin) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  std::optional<std::size_t> pointed;
  for (std::size_t i = 0; i < scene.hits.size(); ++i) {
    const Box box = moved(scene.hits[i].box, {origin.x, origin.y});
    if (gui.probe) gui.name_box(scene.hits[i].name, box, BoxKind::label);
    if (!pointed && box.contains(mouse.x, mouse.y)) pointed = i;
  }
  return ImGui::IsWindowHovered() ? pointed : std::nullopt;
}

}  // namespace headlight
