#include "figure/drawing.h"

#include <algorithm>

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
  Box operator()(const Ramp& ramp) const { return ramp.box; }
  Box operator()(const Rectangle& r) const {
    return around({r.box.x, r.box.y}, {r.box.right(), r.box.bottom()}, r.line ? r.width : 0);
  }
  Box operator()(const Stroke& line) const { return around(line.from, line.to, line.width); }
  Box operator()(const Curve& curve) const { return around(curve.from, curve.to, curve.width); }
  Box operator()(const Text& text) const {
    const float half = text.size / 2;
    if (text.turn == Turn::upwards) return {text.at.x - half, text.at.y - text.width, text.size, text.width};
    if (text.turn == Turn::stacked) {
      const float height = text.size * static_cast<float>(code_points(text.text).size());
      return {text.at.x - half, text.at.y - height, text.size, height};
    }
    const float before = text.anchor == Anchor::left ? 0 : text.anchor == Anchor::middle ? text.width / 2 : text.width;
    return {text.at.x - before, text.at.y - half, text.width, text.size};
  }
};

}  // namespace

Box bounds(const Item& item) { return std::visit(Bounds{}, item); }

}  // namespace headlight
