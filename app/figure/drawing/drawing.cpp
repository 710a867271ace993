#include "figure/drawing/drawing.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"

namespace headlight {
namespace {

Box around(Point a, Point b, float width) {
  const float reach = width / 2;
  const float x = std::min(a.x, b.x) - reach, y = std::min(a.y, b.y) - reach;
  return {x, y, std::max(a.x, b.x) + reach - x, std::max(a.y, b.y) + reach - y};
}

struct Bounds {
  Box operator()(const Cells& cells) const { return cells.box; }
  Box operator()(const Image& image) const { return image.box; }
  Box operator()(const Ramp& ramp) const { return ramp.box; }
  Box operator()(const Rectangle& r) const {
    return around({r.box.x, r.box.y}, {r.box.right(), r.box.bottom()}, r.line ? r.width : 0);
  }
  Box operator()(const Stroke& line) const {
    const Box box = around(line.from, line.to, line.width);
    if (line.head <= 0) return box;
    const auto head = arrow_head(line);
    const Box wings = around(head[1], head[2], 0);
    const float x = std::min(box.x, wings.x), y = std::min(box.y, wings.y);
    return {x, y, std::max(box.right(), wings.right()) - x, std::max(box.bottom(), wings.bottom()) - y};
  }
  Box operator()(const Curve& curve) const { return around(curve.from, curve.to, curve.width); }
  Box operator()(const Path& path) const {
    Box box = around(path.points.front(), path.points.front(), path.width);
    for (const Point& at : path.points) {
      const Box one = around(at, at, path.width);
      const float x = std::min(box.x, one.x), y = std::min(box.y, one.y);
      box = {x, y, std::max(box.right(), one.right()) - x, std::max(box.bottom(), one.bottom()) - y};
    }
    return box;
  }
  Box operator()(const Text& text) const {
    const float half = text.size / 2;
    if (text.turn == TextRotation::upwards) return {text.at.x - half, text.at.y - text.width, text.size, text.width};
    if (text.turn == TextRotation::stacked) {
      const float height = text.size * static_cast<float>(code_points(text.text).size());
      return {text.at.x - half, text.at.y - height, text.size, height};
    }
    const float before = text.anchor == Anchor::left ? 0 : text.anchor == Anchor::middle ? text.width / 2 : text.width;
    return {text.at.x - before, text.at.y - half, text.width, text.size};
  }
};

}  // namespace

std::array<Point, 3> arrow_head(const Stroke& arrow) {
  const float dx = arrow.to.x - arrow.from.x, dy = arrow.to.y - arrow.from.y, length = std::hypot(dx, dy);
  const float along = length > 0 ? arrow.head / length : 0, aside = 0.8f * along;
  const Point end{arrow.to.x - along * dx, arrow.to.y - along * dy};
  return {arrow.to, {end.x + aside * dy, end.y - aside * dx}, {end.x - aside * dy, end.y + aside * dx}};
}

std::array<Point, 3> arrow_head(const Path& path) {
  const Point end = path.points.back();
  Point from = end;  // the last point that is another
  for (auto at = path.points.rbegin(); at != path.points.rend() && from == end; ++at) from = *at;
  const float dx = end.x - from.x, dy = end.y - from.y, length = std::hypot(dx, dy);
  const float x = length > 0 ? dx / length : 0, y = length > 0 ? dy / length : 0;
  const float aside = std::max(0.5f * path.head, 0.9f * path.width + 0.2f * path.head);
  return {{{end.x + path.head * x, end.y + path.head * y},
           {end.x + aside * y, end.y - aside * x},
           {end.x - aside * y, end.y + aside * x}}};
}

Text text_of(Point at, std::string text, float size, Rgb colour, const TextWidth& measure, Anchor anchor, Role role,
             TextRotation turn) {
  const float width = measure(text, size);
  return {at, std::move(text), size, width, role, colour, anchor, turn};
}

Box bounds(const Item& item) { return std::visit(Bounds{}, item); }

}  // namespace headlight
