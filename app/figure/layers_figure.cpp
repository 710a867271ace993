// All heads of all layers, each a thumbnail: a row a layer, a column a head. Made for models with hundreds of heads.
#include <algorithm>
#include <cmath>
#include <limits>

#include "figure/labels.h"
#include "figure/map_items.h"
#include "figure/map_kinds.h"
#include "model/head_text.h"

namespace headlight {
namespace {

/// With so many heads every cell of up to 128 tokens is kept; of more so many of all thumbnails together, so that a
/// model with thousands of heads is still a small file.
constexpr Index kMostWhole = 24 * 16;
constexpr double kMostCellsOfLayers = 1.0e6;
constexpr Index kLeastSide = 12;
constexpr float kLargestThumbnail = 72;  // points
constexpr float kFrame = 0.35f;          // the width of its line

/// The rows and columns of thumbnails: layers of heads, or heads sorted by a measure, each with its name.
struct Arrangement {
  std::vector<HeadRef> heads = {};
  Index columns = 1;
  bool named = false;
  Index cells = 0, between = 0;  // columns of one map, and between two

  Index rows() const { return (static_cast<Index>(heads.size()) + columns - 1) / columns; }
  Index width() const { return columns * (cells + between) - between; }
  /// The heads of a row; of the last one perhaps fewer.
  std::vector<HeadRef> row(Index at) const {
    const auto begin = heads.begin() + at * columns;
    return {begin, begin + std::min<Index>(columns, heads.end() - begin)};
  }
};

/// The maps of a row side by side, empty columns between them; where each has a separate range, as shares of `scale`.
Matrix side_by_side(const FigureSubject& subject, const FigureOptions& options, const ColourScale& scale,
                    const Arrangement& all, Index at, Index most) {
  Matrix row;
  Index column = 0;
  for (const HeadRef& head : all.row(at)) {
    Matrix map = printed_map(subject, head, most).weights;
    const float share = scale.top / own_scale(scale, map, options).top;
    map = (map.array() < 0).select(map, share * map);
    if (column == 0) row = Matrix::Constant(map.rows(), all.width(), std::numeric_limits<float>::quiet_NaN());
    row.middleCols(column, map.cols()) = map;
    column += all.cells + all.between;
  }
  return row;
}

/// Every so many numbers are written, so that none touch.
Index step_of(float width, float pitch) { return std::max<Index>(1, static_cast<Index>(std::ceil(width / pitch))); }

/// The size of the thumbnails on the page.
struct Sizes {
  float left = 0, above = 0;       // of the maps, from the margin; from the top
  float cell = 0;                  // as wide as high
  float names = 0;                 // above each map
  float pitch_x = 0, pitch_y = 0;  // from map to map
  float height = 0;                // of a map
};

/// `lines`: of the name of each head; 0: layers and heads have numbers, which take `numbers` at the left.
Sizes sizes_of(const Page& page, const Arrangement& all, const Matrix& first, Index lines, float numbers) {
  const float longer = static_cast<float>(std::max(first.rows(), first.cols()));
  const float rows = static_cast<float>(all.rows());
  Sizes sizes{.left = all.named ? 0 : numbers, .above = all.named ? 0 : 2.8f * page.label};
  sizes.cell = std::min((page.room() - sizes.left) / static_cast<float>(all.width()), kLargestThumbnail / longer);
  if (!all.named)
    sizes.cell = std::min(sizes.cell,
                          (page.most_height() - sizes.above) / (rows * static_cast<float>(first.rows() + all.between)));
  sizes.names = kLineOfText * page.least_label * static_cast<float>(lines);
  sizes.height = sizes.cell * static_cast<float>(first.rows());
  sizes.pitch_x = sizes.cell * static_cast<float>(all.cells + all.between);
  sizes.pitch_y = sizes.names + sizes.height + sizes.cell * static_cast<float>(all.between) +
                  (all.named ? 0.5f * page.least_label : 0);
  return sizes;
}

/// The numbers of the layers beside their rows, and of the heads above their columns.
void add_numbers(Page& page, const Arrangement& all, const Sizes& sizes, float top, float pitch_y, bool of_heads,
                 Language language) {
  const float size = page.label, x = page.left() + sizes.left;
  const auto put = [&](float at_x, float at_y, const std::string& text, Role role, Anchor anchor) {
    add_text(page, {at_x, at_y}, text, size, role == Role::title ? page.ink.text : page.ink.dim, role, anchor);
  };
  if (of_heads) put(x, page.y + 0.5f * size, either(language, "Head", "头"), Role::title, Anchor::left);
  put(page.left(), page.y + 1.9f * size, either(language, "Layer", "层"), Role::title, Anchor::left);
  const Index column_step = step_of(page.measure(std::to_string(all.columns), size) + 0.4f * size, sizes.pitch_x);
  for (Index head = 0; of_heads && head < all.columns; head += column_step)
    put(x + sizes.pitch_x * static_cast<float>(head) + sizes.cell * static_cast<float>(all.cells) / 2,
        page.y + 1.9f * size, std::to_string(head), Role::label, Anchor::middle);
  for (Index layer = 0; layer < all.rows(); layer += step_of(size, pitch_y))
    put(x - 0.5f * size, top + pitch_y * static_cast<float>(layer) + sizes.height / 2,
        std::to_string(all.row(layer).front().layer), Role::label, Anchor::right);
}

/// The name of each head above its map, and below it the number by which it stands there.
void add_names(Page& page, const FigureOptions& options, const Arrangement& all, Index row, float x, float y,
               float pitch_x) {
  const float size = page.least_label;
  const std::vector<HeadRef> heads = all.row(row);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const float at = x + pitch_x * static_cast<float>(i);
    add_text(page, {at, y + 0.5f * size}, head_label(heads[i]), size, page.ink.text, Role::title);
    const auto at_number = static_cast<std::size_t>(row * all.columns) + i;
    if (const auto number = at_number < options.numbers.size() ? options.numbers[at_number] : std::nullopt)
      add_text(page, {at, y + (0.5f + kLineOfText) * size}, order_number_text(*number), size, page.ink.dim);
  }
}

/// As many maps side by side as a layer has heads; fewer where their names would touch, more where all of them would be
/// higher than a slide.
Index named_columns(const Page& page, const Arrangement& all, const Matrix& first, const FigureOptions& options,
                    Index lines) {
  float widest = 0;
  for (const HeadRef& head : all.heads) widest = std::max(widest, page.measure(head_label(head), page.least_label));
  for (const auto& number : options.numbers)
    if (number) widest = std::max(widest, page.measure(order_number_text(*number), page.least_label));
  Arrangement tried = all;
  const auto sizes = [&] { return sizes_of(page, tried, first, lines, 0); };
  const auto fits = [&] { return sizes().pitch_x >= widest + 0.4f * page.least_label; };
  while (tried.columns > 1 && !fits()) --tried.columns;
  while (static_cast<float>(tried.rows()) * sizes().pitch_y > page.most_height() && tried.rows() > 1) {
    ++tried.columns;
    if (!fits()) return tried.columns - 1;
  }
  return tried.columns;
}

}  // namespace

Drawing draw_layers(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  Page page = new_page(options, measure);
  const Trace& trace = subject.trace;
  const Stack stack = options.head.stack;
  const Index layers = static_cast<Index>(layers_of(subject, options).size()), heads = maps_a_layer(subject, stack);
  const bool of_heads = kind_of(subject, stack) != MapKind::rollout;
  const Index fair = static_cast<Index>(std::sqrt(kMostCellsOfLayers / static_cast<double>(layers * heads)));
  const Index most = layers * heads <= kMostWhole ? kThumbnail : std::clamp(fair, kLeastSide, kThumbnail);
  const ColourScale scale = map_scale(subject, options);
  const PrintedMap printed = printed_map(subject, {0, 0, stack}, most);
  const Matrix& first = printed.weights;
  Arrangement all{.heads = maps_of_layers(subject, options), .columns = heads, .cells = first.cols()};
  all.between = std::max<Index>(1, static_cast<Index>(std::lround(0.1 * static_cast<double>(first.cols()))));
  const Index lines = options.heads.empty() ? 0 : options.numbers.empty() ? 1 : 2;
  if (lines > 0) {
    all.heads = options.heads;
    all.named = true;
    all.columns = std::min(heads, static_cast<Index>(all.heads.size()));
    all.columns = named_columns(page, all, first, options, lines);
  }
  const float size = page.label;
  const float numbers = std::max(measure(either(options.language, "Layer", "层"), size),
                                 measure(std::to_string(trace.num_layers(stack)), size)) +
                        0.6f * size;
  const Sizes sizes = sizes_of(page, all, first, lines, numbers);
  const float top = page.y + sizes.above, x = page.left() + sizes.left;
  if (!all.named) add_numbers(page, all, sizes, top, sizes.pitch_y, of_heads, options.language);
  bool blocks = false;
  std::vector<Rectangle> frames;  // above the images, which would cover them
  for (Index row = 0; row < all.rows(); ++row) {
    const float y = top + sizes.pitch_y * static_cast<float>(row);
    if (all.named) add_names(page, options, all, row, x, y, sizes.pitch_x);
    Matrix maps = side_by_side(subject, options, scale, all, row, most);
    blocks = blocks || has_blocked(maps);
    page.drawing.add(Cells{{x, y + sizes.names, sizes.cell * static_cast<float>(all.width()), sizes.height},
                           shared(std::move(maps)),
                           scale});
    for (std::size_t i = 0; i < all.row(row).size(); ++i)
      frames.push_back({{x + sizes.pitch_x * static_cast<float>(i), y + sizes.names,
                         sizes.cell * static_cast<float>(all.cells), sizes.height},
                        {},
                        page.ink.line,
                        kFrame});
  }
  const float strip = std::min(0.3f * sizes.cell * static_cast<float>(all.between), 0.22f * size);
  for (const Rectangle& frame : frames)
    add_role_strips(page, printed, frame.box, {frame.box.x - strip / 2, frame.box.y - strip / 2}, strip, options.theme);
  for (Rectangle& frame : frames) page.drawing.add(std::move(frame));
  page.y = top + sizes.pitch_y * static_cast<float>(all.rows());
  std::vector<std::string> remarks;
  if (first.rows() < trace.queries(stack) && !folded_stack(subject, stack))
    remarks.push_back(either(options.language, "each dot: the largest weight of the cells it covers",
                             "每个点：其覆盖单元格中的最大权重"));
  return finished(std::move(page), subject, options, scale, blocks, remarks);
}

}  // namespace headlight
