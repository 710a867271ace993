// All heads of a stack: each layer begins a new row.
#include <algorithm>

#include "figure/head_titles.h"
#include "figure/map_items.h"
#include "figure/map_kinds.h"

namespace headlight {
namespace {

/// Cells of all maps together: more would be neither seen nor small on disk.
constexpr Index kMostCellsOfAll = 144 * kThumbnail * kThumbnail;
constexpr float kLeastMap = 14;       // points
constexpr float kFairShare = 1.15f;   // of a page's fair height: so much more is better than smaller maps
constexpr float kHighest = 1.6f;      // of a map, to its width
constexpr float kLeastNamed = 11.5f;  // ems: in smaller maps labels would take more room than cells

Index cells_a_side(Index maps) {
  Index side = kThumbnail;
  while (side > 16 && maps * side * side > kMostCellsOfAll) --side;
  return side;
}

/// How every map of the grid is laid out, in a box whose top left corner is (0, 0), its title included.
struct Tile {
  MapAxes axes;
  MapLayout layout;
  float title = 0;  // the middle of the title's line
  float name = 0;   // … of the line below it; 0: there is none
  float height = 0;
};

Tile tile_of(const Page& page, const PrintedMap& map, float width, bool names_below) {
  Tile tile;
  const bool labelled = width >= kLeastNamed * page.least_label;
  if (labelled) tile.axes = map_axes(page, map, width);
  else tile.axes.size = page.least_label;
  const float share = static_cast<float>(map.num_queries()) / static_cast<float>(map.num_keys());
  const float first_top = layout_of(map, tile.axes, {0, 0, width, width}).plot.y;
  tile.layout = layout_of(map, tile.axes, {0, 0, width, width * std::min(share, kHighest) + first_top});
  tile.title = 0.5f * page.label;
  if (names_below && labelled) tile.name = 1.1f * page.label + 0.5f * name_size(page);
  tile.layout.plot.y = (tile.name > 0 ? 1.4f * page.label + 1.1f * name_size(page) : 1.4f * page.label) +
                       label_height(tile.axes, tile.layout);
  tile.height = tile.layout.plot.bottom();
  return tile;
}

/// The positions of the heads of all layers: each layer begins a new row, its heads from left to right. Heads that are
/// sorted by a measure follow each other like those of one layer.
struct GridLayout {
  Index in_a_layer = 1;
  Index columns = 1;         // heads side by side
  Index rows_per_layer = 1;  // where a layer's heads take several rows
  float width = 0;           // of one map with its labels
  float height = 0;          // … and its title
  float gap = 0;             // between maps
  float content_height = 0;  // of everything

  Box box_of(Index at) const {
    const Index head = at % in_a_layer, row = at / in_a_layer * rows_per_layer + head / columns,
                column = head % columns;
    return {static_cast<float>(column) * (width + gap), static_cast<float>(row) * (height + gap), width, height};
  }
};

/// As few maps side by side as the height of the page allows; none smaller than kLeastMap.
GridLayout grid_of(const Page& page, const PrintedMap& map, Index layers, Index heads, float gap, bool names_below) {
  GridLayout grid{.in_a_layer = heads, .gap = gap};
  for (Index rows = heads; rows >= 1; --rows) {
    const Index columns = (heads + rows - 1) / rows;
    const float width = (page.room() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    if (grid.width > 0 && width < kLeastMap) break;
    grid.columns = columns;
    grid.rows_per_layer = (heads + columns - 1) / columns;
    grid.width = std::max(1.0f, std::min(width, 18 * page.title));
    grid.height = tile_of(page, map, grid.width, names_below).height;
    grid.content_height = static_cast<float>(layers * grid.rows_per_layer) * (grid.height + gap) - gap;
    if (grid.content_height <= kFairShare * page.fair_height()) break;
  }
  return grid;
}

}  // namespace

Drawing draw_grid(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  Page page = new_page(options, measure);
  const Stack stack = options.head.stack;
  const bool ordered = !options.heads.empty();
  const auto every = ordered ? options.heads : maps_of_layers(subject, options);
  const Index layers = ordered ? 1 : static_cast<Index>(layers_of(subject, options).size());
  const Index heads = ordered ? static_cast<Index>(every.size()) : maps_a_layer(subject, stack);
  const Index most = cells_a_side(layers * heads);
  const PrintedMap first = printed_map(subject, {0, 0, stack}, most);
  const float gap = 0.9f * page.label;
  GridLayout grid = grid_of(page, first, layers, heads, gap, false);
  Tile tile = tile_of(page, first, grid.width, false);
  float room = grid.width - tile.layout.plot.x;
  // Names that do not fit beside the heads' numbers take a separate line.
  constexpr float kAnyLength = 1e6f;
  const auto whole = titles_of(page, subject, options, every, kAnyLength);
  const bool names_below = std::ranges::any_of(whole, [&](const HeadTitle& title) {
    return measure(title.words.head + title.words.value + title.words.relations, page.label) > room;
  });
  if (names_below) {
    grid = grid_of(page, first, layers, heads, gap, true);
    tile = tile_of(page, first, grid.width, true);
    room = grid.width - tile.layout.plot.x;
  }
  const ColourScale scale = map_scale(subject, options);
  const float used = static_cast<float>(grid.columns) * (grid.width + grid.gap) - grid.gap;
  const float left = page.left() + std::max(0.0f, (page.room() - used) / 2);
  bool blocks = false;
  const float below = tile.name > 0 ? grid.width + 0.5f * gap : 0;
  auto titles = titles_of(page, subject, options, every, room, below);
  for (std::size_t i = 0; i < titles.size(); ++i) {
    HeadTitle& title = titles[i];
    const Box box = grid.box_of(static_cast<Index>(i));
    MapLayout layout = tile.layout;
    layout.plot.x += left + box.x;
    layout.plot.y += page.y + box.y;
    const PrintedMap map = printed_map(subject, title.head, most);
    const ColourScale own = own_scale(scale, map.weights, options);
    if (options.own_range) title.words.value += "  ≤ " + tick_number(own.top);
    if (measure(title.words.head + title.words.value + title.words.relations, page.label) > room)
      title.words.value.clear();
    if (measure(title.words.head, page.label) <= room)
      add_head_title(page, title, layout.plot.x, page.y + box.y + tile.title);
    add_name_below(page, title, layout.plot.x, left + box.x + below, page.y + box.y + tile.name);
    add_map(page, map, tile.axes, layout, own, false);
    // Between the cells and their labels.
    add_role_strips(page, map, layout.plot, {layout.plot.x, layout.plot.y}, 0.2f * page.label, options.theme);
    blocks = blocks || has_blocked(map.weights);
  }
  page.y += grid.content_height;
  std::vector<std::string> remarks;
  if (std::max(first.num_queries(), first.num_keys()) > most)
    remarks.push_back(either(options.language, "each dot: the largest weight of the cells it covers",
                             "每个点：其覆盖单元格中的最大权重"));
  return finished(std::move(page), subject, options, scale, blocks, remarks);
}

}  // namespace headlight
