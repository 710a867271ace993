// All heads of a stack: each layer begins a new row.
#include <algorithm>

#include "figure/grid_layout.h"
#include "figure/labels.h"
#include "figure/map_items.h"

namespace headlight {
namespace {

/// Cells of all maps together: more would be neither seen nor small on disk.
constexpr Index kMostCells = 144 * kThumbnail * kThumbnail;
constexpr float kLeastMap = 14, kFairMap = 34;  // points

Index cells_a_side(Index maps) {
  Index side = kThumbnail;
  while (side > 16 && maps * side * side > kMostCells) --side;
  return side;
}

/// "Layer 2 · Head 6  verb → object 0.99", as far as there is room.
void add_head_title(Page& page, const Subject& subject, const FigureOptions& options, const HeadRef& head,
                    float x, float y, float room) {
  const float size = std::min(page.label, page.title);
  const auto width = [&](const std::string& text) { return page.measure(text, size); };
  MeasuredTitle title = measured_title(options.language, subject.document, head, room, width);
  const bool off = is_off(subject.trace.request.edits, head);
  if (off) title.relations = either(options.language, "  off", "  已关闭");
  if (width(title.head) > room) return;
  const Text& text = add_text(page, {.at = {x, y}, .text = title.head, .size = size, .role = Role::title,
                                     .colour = off ? page.ink.dim : page.ink.text});
  if (title.relations.empty() || text.width + width(title.relations) > room) return;
  add_text(page, {.at = {x + text.width, y}, .text = title.relations, .size = size, .role = Role::title,
                  .colour = off ? page.ink.dim : page.ink.accent});
}

}  // namespace

Drawing draw_grid(const Subject& subject, const FigureOptions& options, const Measure& measure) {
  Page page = new_page(options, measure);
  const Trace& trace = subject.trace;
  const Stack stack = options.head.stack;
  const Index layers = trace.num_layers(stack), heads = trace.num_heads(stack);
  const Index most = cells_a_side(layers * heads);
  const float gap = 0.9f * page.label, title = 1.5f * page.label;

  const PrintedMap first = printed_map(subject, {0, 0, stack}, most);
  const float row = (page.room() - gap * static_cast<float>(heads - 1)) / static_cast<float>(heads);
  const float least = std::clamp(row, kLeastMap, std::max(kLeastMap, kFairMap));
  const float widest = std::min(page.room(), 18 * page.title);
  // What labels take above a map beyond what they take at its left follows from its size, and its size from that.
  GridLayout grid;
  MapAxes axes;
  float extra = title;
  for (int round = 0; round < 3; ++round) {
    grid = layout_grid(page.room(), page.fair_height(), layers, heads, least, widest, extra, gap);
    axes = map_axes(page, first, grid.width);
    const MapLayout trial = layout_of(first, axes, {0, 0, grid.width, grid.width});
    extra = title + std::max(0.0f, trial.plot.y - trial.plot.x);
  }
  const ColourScale scale = weight_scale(trace, subject.folded, options.theme, options.scale);
  const float used = static_cast<float>(std::min(grid.columns, heads)) * (grid.width + gap) - gap;
  const float shift = std::max(0.0f, (page.room() - used) / 2);
  bool blocks = false;
  float bottom = page.y;
  for (Index layer = 0; layer < layers; ++layer)
    for (Index head = 0; head < heads; ++head) {
      const HeadRef at{layer, head, stack};
      const Box place = grid.place(at);
      const float x = page.left() + shift + place.x, y = page.y + place.y;
      const PrintedMap map = printed_map(subject, at, most);
      const MapLayout layout = layout_of(map, axes, {x, y + title, place.w, place.h - title});
      add_head_title(page, subject, options, at, layout.plot.x, y + 0.5f * page.label, x + place.w - layout.plot.x);
      add_map(page, map, axes, layout, scale, false);
      blocks = blocks || has_blocked(map.weights);
      bottom = std::max(bottom, layout.plot.bottom());
    }
  page.y = bottom;
  std::vector<std::string> remarks;
  if (std::max(first.num_queries(), first.num_keys()) > most)
    remarks.push_back(either(options.language, "each dot: the largest weight of the cells it covers",
                             "每个点：其覆盖单元格中的最大权重"));
  return finished(std::move(page), subject, options, true, blocks, remarks);
}

}  // namespace headlight
