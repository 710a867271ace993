// Scenes as a page paints them: lists of drawing primitives, a list each, and the pixels of maps.
#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "base/utf8.h"
#include "figure/drawing/pooled_map.h"
#include "page/core/page_scenes.h"

namespace headlight {
namespace {

using nlohmann::json;

/// To a hundredth of a pixel: short, and not to be seen.
double brief(float number) { return std::round(100.0 * static_cast<double>(number)) / 100; }
std::string scene_colour(Rgb colour) { return formatted("#%02x%02x%02x", colour.r, colour.g, colour.b); }
std::string place(Point at) { return formatted("%.2f %.2f ", static_cast<double>(at.x), static_cast<double>(at.y)); }

/// What each kind of item is in the list, its kind first (web/paint.js reads the same order).
struct ItemWriter {
  json& list;
  const PageScene& scene;
  std::size_t cells = 0;

  void head(const std::array<Point, 3>& corners, Rgb colour) const {
    list.push_back(
        {"g", "M" + place(corners[0]) + "L" + place(corners[1]) + "L" + place(corners[2]) + "Z", scene_colour(colour)});
  }
  void operator()(const Image& one) const {
    list.push_back({"i", brief(one.box.x), brief(one.box.y), brief(one.box.w), brief(one.box.h),
                    one.picture && one.picture == scene.picture_of_a ? 1 : 0});
  }
  void operator()(const Cells& one) {
    list.push_back({"c", brief(one.box.x), brief(one.box.y), brief(one.box.w), brief(one.box.h),
                    cells < scene.keys.size() ? scene.keys[cells] : "", cells, brief(one.opacity)});
    ++cells;
  }
  void operator()(const Ramp&) const {}  // no scene of a page has one
  void operator()(const Rectangle& one) const {
    list.push_back({"r", brief(one.box.x), brief(one.box.y), brief(one.box.w), brief(one.box.h),
                    one.fill ? json(scene_colour(*one.fill)) : json(0),
                    one.line ? json(scene_colour(*one.line)) : json(0), brief(one.width), brief(one.corner),
                    brief(one.opacity)});
  }
  void operator()(const Stroke& one) const {
    list.push_back(
        {"p", "M" + place(one.from) + "L" + place(one.to), brief(one.width), scene_colour(one.colour), 1, 0});
    if (one.head > 0) head(arrow_head(one), one.colour);
  }
  void operator()(const Curve& one) const {
    const float middle = (one.from.x + one.to.x) / 2;
    list.push_back(
        {"p", "M" + place(one.from) + "C" + place({middle, one.from.y}) + place({middle, one.to.y}) + place(one.to),
         brief(one.width), scene_colour(one.colour), brief(one.opacity), 0});
  }
  void operator()(const Path& one) const {
    std::string way = "M" + place(one.points.front());
    for (std::size_t i = 1; i + 2 < one.points.size(); i += 3)
      way += "C" + place(one.points[i]) + place(one.points[i + 1]) + place(one.points[i + 2]);
    list.push_back({"p", way, brief(one.width), scene_colour(one.colour), brief(one.opacity), brief(one.dash)});
    if (one.head > 0) head(arrow_head(one), one.colour);
  }
  void text(Point at, const std::string& words, const Text& like, Anchor anchor, int turn) const {
    list.push_back({"t", brief(at.x), brief(at.y), words, brief(like.size), scene_colour(like.colour),
                    static_cast<int>(anchor), turn});
  }
  void operator()(const Text& one) const {
    if (one.turn != TextRotation::stacked)
      return one.turn == TextRotation::upwards ? text(one.at, one.text, one, Anchor::left, 1)
                                               : text(one.at, one.text, one, one.anchor, 0);
    // One character above the other; the last one stands on the place.
    auto characters = code_points(one.text);
    float y = one.at.y - one.size / 2;
    for (auto c = characters.rbegin(); c != characters.rend(); ++c, y -= one.size) {
      std::string character;
      append_utf8(character, *c);
      text({one.at.x, y}, character, one, Anchor::middle, 0);
    }
  }
};

}  // namespace

json scene_json(const PageScene& scene) {
  json items = json::array(), hits = json::array();
  ItemWriter writer{items, scene};
  for (const Item& item : scene.drawing.items) std::visit(writer, item);
  for (const Hit& hit : scene.drawing.hits)
    hits.push_back({hit.name, brief(hit.box.x), brief(hit.box.y), brief(hit.box.w), brief(hit.box.h)});
  return {{"width", brief(scene.drawing.width)},
          {"height", brief(scene.drawing.height)},
          {"items", std::move(items)},
          {"hits", std::move(hits)},
          {"beside", scene.beside}};
}

PagePixels pixels_of_cells(PageMaps& maps, const PageLook& look, const PageScene& scene, std::size_t n, float width,
                           float height) {
  PagePixels pixels;
  const Cells* cells = nullptr;
  std::size_t at = 0;
  for (const Item& item : scene.drawing.items)
    if (const auto* one = std::get_if<Cells>(&item); one && at++ == n) cells = one;
  if (!cells) return pixels;
  ColourScale scale = cells->scale;
  Matrix weights = cells->weights ? *cells->weights : maps.small(scene.thumbnails[n], look.fold);
  if (!cells->weights && look.own_range && weights.size() > 0) scale = own_scale_of(scale, weights);
  weights = pooled_map(weights, {0, std::max(1.0f, height)}, {0, std::max(1.0f, width)}, scale.diverging);
  pixels.rows = weights.rows(), pixels.columns = weights.cols();
  pixels.bytes.reserve(static_cast<std::size_t>(4 * weights.size()));
  const Rgb gap = gap_colour(scale.theme);
  for (Index i = 0; i < weights.size(); ++i) {
    const float weight = weights.data()[i];
    const bool none = std::isnan(weight), blocked = !none && is_blocked(scale, weight);
    const Rgb colour = none ? gap : blocked ? Rgb{} : colour_of(scale, weight);
    for (const std::uint8_t channel : {colour.r, colour.g, colour.b, static_cast<std::uint8_t>(blocked ? 0 : 255)})
      pixels.bytes.push_back(channel);
  }
  return pixels;
}

}  // namespace headlight
