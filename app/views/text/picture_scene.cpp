#include "views/text/picture_scene.h"

#include <algorithm>
#include <cmath>

#include "derived/shades.h"
#include "figure/map_scene.h"

namespace headlight {
namespace {

/// In ems: a chip's height, the gaps between chips and below them, and what a chip is wider than its word.
constexpr float kChip = 1.7f, kChipGap = 0.5f, kBelowChips = 0.8f, kAroundWord = 1.2f;

}  // namespace

Box PictureLayout::box(Index token) const {
  if (token < grid.first()) return chips[static_cast<std::size_t>(token)];
  const Index patch = token - grid.first();
  const float w = image.w / static_cast<float>(grid.cols), h = image.h / static_cast<float>(grid.rows);
  return {image.x + static_cast<float>(patch % grid.cols) * w, image.y + static_cast<float>(patch / grid.cols) * h, w,
          h};
}

PictureLayout picture_layout(const PatchGrid& grid, float width, float height, float em, float step,
                             const TextWidth& measure) {
  PictureLayout layout{.grid = grid, .chips = {}, .image = {}, .em = em};
  float x = 0;
  for (const std::string& name : grid.leading) {
    const float wide = measure(name, em) + kAroundWord * em;
    layout.chips.push_back({x, 0, wide, kChip * em});
    x += wide + kChipGap * em;
  }
  const float top = grid.leading.empty() ? 0 : (kChip + kBelowChips) * em;
  float side = std::min(width / static_cast<float>(grid.cols), (height - top) / static_cast<float>(grid.rows));
  if (step > 0 && side > step) side = std::floor(side / step) * step;
  side = std::max(side, 0.5f);
  layout.image = {0, step > 0 ? std::round(top) : top, side * static_cast<float>(grid.cols),
                  side * static_cast<float>(grid.rows)};
  return layout;
}

PictureLayout moved(PictureLayout layout, Point by) {
  for (Box& chip : layout.chips) chip = moved(chip, by);
  layout.image = moved(layout.image, by);
  return layout;
}

void add_shaded_picture(Drawing& scene, const PictureLayout& layout, const Tokens& tokens, const TextMarks& marks,
                        float cover, const InkColours& ink) {
  const PatchGrid& grid = layout.grid;
  const float corner = 0.25f * layout.em;
  for (Index token = 0; token < grid.first(); ++token) {
    const Box box = layout.box(token);
    const float weight = marks.shades ? (*marks.shades)(token) : 0;
    const Rgb shade =
        is_blocked(marks.scale, weight) ? blocked_colours(marks.scale.theme).tint : colour_of(marks.scale, weight);
    scene.add(Rectangle{.box = box, .fill = shade, .line = ink.dim, .width = marks.outline / 2, .corner = corner});
    scene.add(Text{.at = {box.x + box.w / 2, box.y + box.h / 2},
                   .text = tokens.tokens[static_cast<std::size_t>(token)].text,
                   .size = layout.em,
                   .width = box.w - kAroundWord * layout.em,
                   .colour = text_on(shade),
                   .anchor = Anchor::middle});
  }
  if (is_bare(grid)) cover = 1;
  else scene.add(Image{layout.image, tokens.picture});
  if (marks.shades && cover > 0)
    scene.add(Cells{layout.image, shared(grid_of(grid, *marks.shades)), marks.scale, cover * marks.opacity});
  if (is_bare(grid)) scene.add(Pen{marks.outline}.frame(layout.image, ink.line));
  for (Index token = 0; token < grid.tokens(); ++token)
    scene.hits.push_back({std::string(marks.hits) + std::to_string(token), layout.box(token)});
  if (!marks.chosen) return;
  for (const Index token : *marks.chosen) {
    Rectangle frame = cell_outline(layout.box(token), 0, ink.accent, 2 * marks.outline);
    if (token < grid.first()) frame.corner = corner;
    scene.add(frame);
  }
}

}  // namespace headlight
