// All heads of all layers, each a thumbnail: a row a layer, a column a head. Made for models with hundreds of heads.
#include <algorithm>
#include <cmath>
#include <limits>

#include "figure/labels.h"
#include "figure/map_items.h"
#include "figure/map_kinds.h"

namespace headlight {
namespace {

/// Of all thumbnails together, so that a model with thousands of heads is still a small file.
constexpr double kMostCellsOfLayers = 1.0e6;
constexpr Index kLeastSide = 12;
constexpr float kLargestThumbnail = 72;  // points

/// The heads of a layer side by side, empty columns between them; where each has its own range, as shares of `scale`.
Matrix side_by_side(const FigureSubject& subject, const FigureOptions& options, const ColourScale& scale, Index layer,
                    Index most, Index between) {
  const Stack stack = options.head.stack;
  const Index heads = maps_a_layer(subject, stack);
  Matrix row;
  for (Index head = 0; head < heads; ++head) {
    Matrix map = printed_map(subject, {layer, head, stack}, most).weights;
    const float share = scale.top / own_scale(scale, map, options).top;
    map = (map.array() < 0).select(map, share * map);
    if (head == 0)
      row = Matrix::Constant(map.rows(), heads * (map.cols() + between) - between,
                             std::numeric_limits<float>::quiet_NaN());
    row.middleCols(head * (map.cols() + between), map.cols()) = map;
  }
  return row;
}

/// Every so many numbers are written, so that none touch.
Index step_of(float width, float pitch) { return std::max<Index>(1, static_cast<Index>(std::ceil(width / pitch))); }

}  // namespace

Drawing draw_layers(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  Page page = new_page(options, measure);
  const Trace& trace = subject.trace;
  const Stack stack = options.head.stack;
  const Index layers = trace.num_layers(stack), heads = maps_a_layer(subject, stack);
  const bool of_heads = kind_of(subject, stack) != MapKind::rollout;
  const Index fair = static_cast<Index>(std::sqrt(kMostCellsOfLayers / static_cast<double>(layers * heads)));
  const Index most = std::clamp(fair, kLeastSide, kThumbnail);
  const ColourScale scale = map_scale(subject, options);

  const float size = page.label;
  const std::string row_word = either(options.language, "Layer", "层"),
                    column_word = of_heads ? either(options.language, "Head", "头") : "";
  const float left = std::max(measure(row_word, size), measure(std::to_string(layers), size)) + 0.6f * size;
  const Matrix first = printed_map(subject, {0, 0, stack}, most).weights;
  const Index between = std::max<Index>(1, static_cast<Index>(std::lround(0.1 * static_cast<double>(first.cols()))));
  // A cell is as wide as the page allows, as wide as high.
  const float columns = static_cast<float>(heads * (first.cols() + between) - between);
  const float longer = static_cast<float>(std::max(first.rows(), first.cols()));
  const float cell = std::min((page.room() - left) / columns, kLargestThumbnail / longer);
  const float pitch_x = cell * static_cast<float>(first.cols() + between);
  const float height = cell * static_cast<float>(first.rows()), pitch_y = height + cell * static_cast<float>(between);

  const float top = page.y + 2.8f * size, x = page.left() + left;
  add_text(page, {.at = {x, page.y + 0.5f * size},
                  .text = column_word,
                  .size = size,
                  .role = Role::title,
                  .colour = page.ink.text});
  add_text(page, {.at = {page.left(), page.y + 1.9f * size},
                  .text = row_word,
                  .size = size,
                  .role = Role::title,
                  .colour = page.ink.text});
  const Index column_step = step_of(measure(std::to_string(heads), size) + 0.4f * size, pitch_x);
  for (Index head = 0; of_heads && head < heads; head += column_step)
    add_text(page, {.at = {x + pitch_x * static_cast<float>(head) + cell * static_cast<float>(first.cols()) / 2,
                           page.y + 1.9f * size},
                    .text = std::to_string(head),
                    .size = size,
                    .role = Role::label,
                    .colour = page.ink.dim,
                    .anchor = Anchor::middle});
  const Index row_step = step_of(size, pitch_y);
  bool blocks = false;
  for (Index layer = 0; layer < layers; ++layer) {
    const float y = top + pitch_y * static_cast<float>(layer);
    if (layer % row_step == 0)
      add_text(page, {.at = {x - 0.5f * size, y + height / 2},
                      .text = std::to_string(layer),
                      .size = size,
                      .role = Role::label,
                      .colour = page.ink.dim,
                      .anchor = Anchor::right});
    Matrix row = side_by_side(subject, options, scale, layer, most, between);
    blocks = blocks || has_blocked(row);
    page.drawing.items.emplace_back(Cells{{x, y, cell * columns, height}, std::move(row), scale});
  }
  page.y = top + pitch_y * static_cast<float>(layers);
  std::vector<std::string> remarks;
  if (first.rows() < trace.queries(stack) && !folded_stack(subject, stack))
    remarks.push_back(either(options.language, "each dot: the largest weight of the cells it covers",
                             "每个点：其覆盖单元格中的最大权重"));
  return finished(std::move(page), subject, options, scale, blocks, remarks);
}

}  // namespace headlight
