// The functions of core.wasm and still.wasm that draw: a page has two places for scenes, the stage and the maps of all
// heads.
#include <array>

#include "figure/labels.h"
#include "page/core/exported.h"
#include "page/core/page_scenes.h"

extern "C" {
/// The width of a line of text whose em is `size`, in the page's font (web/paint.js).
[[clang::import_module("page"), clang::import_name("width")]] float page_width(const char* text, int bytes, float size);
}

namespace headlight {
namespace {

using nlohmann::json;

struct Place {
  PageLook look;
  PageScene scene;
};
std::array<Place, 2> places;
std::array<std::unique_ptr<PageMaps>, 2> maps_of_sides;
PagePixels pixels;

PageMaps& maps_of(int side) {
  auto& maps = maps_of_sides[static_cast<std::size_t>(side)];
  if (!maps) maps = std::make_unique<PageMaps>(*page_sides[side]);
  return *maps;
}

float width_of(std::string_view text, float size) {
  return page_width(text.data(), static_cast<int>(text.size()), size);
}

std::optional<PageScene> scene_for(const std::string& view, const PageLook& look) {
  PageMaps& maps = maps_of(0);
  if (view == "atlas") return scene_of_heads(maps, look, width_of);
  if (view == "sentence") return scene_of_sentence(maps, look, width_of);
  if (view == "text") return scene_of_text(maps, look, width_of);
  if (view == "flow") return scene_of_flow(maps, look, width_of);
  if (view == "compare") return scene_of_comparison(maps_of(1), maps, look, width_of);
  return scene_of_map(maps, look, width_of);
}

}  // namespace

void forget_scenes() {
  places = {};
  maps_of_sides = {};
}

/// A scene in its place: the look, its `view`, and sizes. null: the view cannot show so much.
HEADLIGHT_EXPORT(scene) void core_scene(int place, const char* text, int size) {
  answer_with([&]() -> Result<json> {
    const json asked = parsed(text, size);
    Place& to = places[static_cast<std::size_t>(place)];
    to = {};
    to.look = look_of(asked);
    auto scene = scene_for(asked.value("view", ""), to.look);
    if (!scene) return json();
    to.scene = *std::move(scene);
    return scene_json(to.scene);
  });
}

/// What lies at a point of a scene; null: nothing.
HEADLIGHT_EXPORT(point) void core_point(int place, float x, float y) {
  answer_with([&]() -> Result<json> {
    const Place& on = places[static_cast<std::size_t>(place)];
    return on.scene.at ? on.scene.at({x, y}) : json();
  });
}

/// The pixels of the n-th map of a scene for a canvas of that size; then how many rows and columns they are.
HEADLIGHT_EXPORT(pixels) const std::uint8_t* core_pixels(int place, int n, float width, float height) {
  const Place& on = places[static_cast<std::size_t>(place)];
  pixels = pixels_of_cells(maps_of(0), on.look, on.scene, static_cast<std::size_t>(n), width, height);
  return pixels.bytes.data();
}
HEADLIGHT_EXPORT(pixel_rows) int core_pixel_rows() { return static_cast<int>(pixels.rows); }
HEADLIGHT_EXPORT(pixel_columns) int core_pixel_columns() { return static_cast<int>(pixels.columns); }

/// The 256 colours of weights, four bytes each.
HEADLIGHT_EXPORT(colours) const std::uint8_t* core_colours(int theme, int map) {
  pixels = {};
  for (const Rgb& colour : colour_map(static_cast<Theme>(theme), static_cast<ColourMap>(map)))
    for (const std::uint8_t channel : {colour.r, colour.g, colour.b, std::uint8_t{255}})
      pixels.bytes.push_back(channel);
  return pixels.bytes.data();
}

/// What each head of the stack does, in words: a list of {"layer", "head", "words", "brief", "named"}.
HEADLIGHT_EXPORT(names) void core_names(const char* text, int size) {
  answer_with([&]() -> Result<json> {
    const PageLook look = look_of(parsed(text, size));
    json list = json::array();
    for (const HeadRef& head : maps_of(0).heads(look.head.stack)) {
      const HeadName name = maps_of(0).name(look.language, head, look.edited, look.measured);
      list.push_back({{"layer", head.layer},
                      {"head", head.head},
                      {"words", name.words},
                      {"brief", name.brief},
                      {"named", name.named}});
    }
    return list;
  });
}

/// The cell under the pointer, else the pinned one, of the chosen head: its `line`, and its row (page_scenes.h).
HEADLIGHT_EXPORT(row) void core_row(const char* text, int size) {
  answer_with([&]() -> Result<json> {
    const PageLook look = look_of(parsed(text, size));
    const CellRef cell = look.hovered ? *look.hovered : look.pinned.value_or(CellRef{});
    json row = row_of_cell(maps_of(0), look, cell);
    row["line"] = line_of_cell(maps_of(0), look, cell);
    return row;
  });
}

/// The cells of a table, `table`, in a look.
HEADLIGHT_EXPORT(table) void core_table(const char* text, int size) {
  answer_with([&]() -> Result<json> {
    const json asked = parsed(text, size);
    return cells_of_table(asked["table"], look_of(asked));
  });
}

/// The numbers beside the colours of a look.
HEADLIGHT_EXPORT(ticks) void core_ticks(const char* text, int size) {
  answer_with([&]() -> Result<json> {
    json list = json::array();
    for (const float number : ticks(look_of(parsed(text, size)).scale)) list.push_back(tick_number(number));
    return list;
  });
}

}  // namespace headlight
