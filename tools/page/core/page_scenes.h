// The scenes of an open page, made by the views of the window for the sizes that the page has: each with what lies
// under a point of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "figure/drawing/drawing.h"
#include "figure/map_scene.h"
#include "page/core/page_maps.h"

namespace headlight {

/// What a page looks at, and how.
struct PageLook {
  HeadRef head;  // the chosen one
  std::optional<CellRef> pinned, hovered;
  std::optional<Point> pointer;  // where it stands on the scene, while no button is pressed
  FoldChoice fold;
  Viewport part;  // of the map; empty: all of it
  ColourScale scale;
  bool own_range = false, edited = false;
  std::optional<ColourRange> range = {};  // of the colours, in place of their own
  Language language = Language::en;
  float width = 0, height = 0, window_width = 0, window_height = 0;
  std::vector<HeadRef> order;                      // of the maps of all heads; empty: layer by layer
  std::vector<std::optional<float>> numbers = {};  // by which they are in that order
  bool measured = false;                           // heads without arcs are named by measures
  ShadeChoice shades;                              // of the text
  bool all_heads = false;                          // of the lines
  float threshold = 0.05f;
};
/// `chosen` has the stack.
PageLook look_of(const nlohmann::json& object);

struct PageScene {
  Drawing drawing = {};
  std::vector<std::string> keys = {};    // of its Cells, in their order: under one key they have the same numbers
  std::vector<HeadRef> thumbnails = {};  // of Cells without numbers, the head that they show, in the same order
  std::shared_ptr<const PatchedPicture> picture_of_a = {};  // of two answers; other Images are of the answer
  nlohmann::json beside = nlohmann::json::object();         // what belongs to the scene but is not drawn
  std::function<nlohmann::json(Point)> at = {};  // what lies there, as the functions below say; null: nothing
};

/// The same up to the largest number of the map.
ColourScale own_scale_of(ColourScale scale, const Matrix& map);

/// At a point: `cell`, [query, key].
PageScene scene_of_map(PageMaps& maps, const PageLook& look, const TextWidth& measure);
/// At a point: `cell`, `head` as [layer, head], and of a word `word`. Nothing where there are too many words.
std::optional<PageScene> scene_of_sentence(PageMaps& maps, const PageLook& look, const TextWidth& measure);
/// At a point: `word` and `keys`, whether it is one of the keys' text. Beside: `shades`, `sides`.
PageScene scene_of_text(PageMaps& maps, const PageLook& look, const TextWidth& measure);
/// At a point: `cell`.
PageScene scene_of_flow(PageMaps& maps, const PageLook& look, const TextWidth& measure);
/// A, B and B − A; of two pictures the row of a token over each. At a point: `cell`, of B, and `line`, the three
/// numbers in words. Nothing where the sentences are too long.
std::optional<PageScene> scene_of_comparison(PageMaps& a, PageMaps& b, const PageLook& look, const TextWidth& measure);
/// The labels of a part of a side, at this size of type.
AxisText axis_of(const std::vector<Token>& tokens, Index first, Index count, float size, const TextWidth& measure);
/// The maps of all heads; hit boxes `head L.H`.
PageScene scene_of_heads(PageMaps& maps, const PageLook& look, const TextWidth& measure);

/// The scene as the page paints it (web/paint.js).
nlohmann::json scene_json(const PageScene& scene);
/// The pixels of its n-th Cells on a canvas of this size: four bytes each, at most one a cell. Blocked ones have no
/// colour.
struct PagePixels {
  Index rows = 0, columns = 0;
  std::vector<std::uint8_t> bytes = {};
};
PagePixels pixels_of_cells(PageMaps& maps, const PageLook& look, const PageScene& scene, std::size_t n, float width,
                           float height);

/// Of a table of the page's data (`tables`) each cell: its text, the same in words, its colour and that of its text.
nlohmann::json cells_of_table(const nlohmann::json& table, const PageLook& look);
/// The row of a cell as it is shown: `from`, `words` with `label`, `key` (a token), `weight` (−1: blocked) and `share`,
/// which of them is `lit`, and what `rests` on special tokens that are left out.
nlohmann::json row_of_cell(PageMaps& maps, const PageLook& look, const CellRef& cell);
/// The chosen head's cell in a sentence, as the window says it.
std::string line_of_cell(PageMaps& maps, const PageLook& look, const CellRef& cell);

}  // namespace headlight
