#include "views/inside/matrix_scene.h"

#include <algorithm>
#include <cmath>

#include "figure/map_scene.h"
#include "figure/page.h"
#include "views/inside/inside_labels.h"

namespace headlight {
namespace {

void add_row_labels(Drawing& scene, const MatrixSubject& subject, const MatrixStyle& style, const MatrixGrid& grid,
                    const Box& area) {
  const Axes along = axes(subject.trace, subject.id);
  const MatrixPicture& picture = *subject.picture;
  const std::optional<MatrixCell>& lit = subject.lit;
  const float size = style.label, gap = 0.4f * size;
  const Index step = label_step(kLineOfText * size, grid.height);
  for (Index row = 0; along.rows != Axis::one && row < picture.rows; ++row) {
    const Index away = lit ? std::abs(lit->row - picture.first_row - row) : step;
    if (away != 0 && (row % step != 0 || away < step)) continue;
    const std::string label = index_label(subject.trace, subject.id, along.rows, picture.first_row + row);
    const std::string text = cut_to(label, size, grid.plot.x - gap - area.x + 0.01f, style.measure);
    scene.add(text_of({grid.plot.x - gap, grid.plot.y + (static_cast<float>(row) + 0.5f) * grid.height}, text, size,
                      away == 0 ? style.ink.accent : style.ink.dim, style.measure, Anchor::right));
  }
}

/// From left to right, as many as do not touch; the lit one always.
void add_column_labels(Drawing& scene, const MatrixSubject& subject, const MatrixStyle& style, const MatrixGrid& grid,
                       const Box& area) {
  const Axes along = axes(subject.trace, subject.id);
  const MatrixPicture& picture = *subject.picture;
  const std::optional<MatrixCell>& lit = subject.lit;
  const float size = style.label, gap = 0.4f * size;
  const Index columns = picture.values.cols();
  const auto text = [&](Index column) {
    return index_label(subject.trace, subject.id, along.cols, picture.covers(column).first);
  };
  const bool words = along.cols == Axis::queries || along.cols == Axis::keys || along.cols == Axis::vocabulary;
  float widest = 0;  // of numbers, which are counted in even steps
  for (Index column = 0; !words && column < columns; ++column)
    widest = std::max(widest, style.measure(text(column), size) + gap);
  const Index step = label_step(widest, grid.width);
  float free_from = area.x, lit_begin = 1e9f, lit_end = -1e9f;
  const auto add = [&](Index column, bool is_lit) {
    const std::string label = text(column);
    const float middle = grid.plot.x + (static_cast<float>(column) + 0.5f) * grid.width,
                width = style.measure(label, size), begin = middle - width / 2, end = middle + width / 2;
    if (!is_lit && (begin < free_from || end > area.right() || (end + gap > lit_begin && begin < lit_end + gap)))
      return;
    scene.add(text_of({middle, grid.plot.y - grid.above - 0.5f * size}, label, size,
                      is_lit ? style.ink.accent : style.ink.dim, style.measure, Anchor::middle));
    if (is_lit) lit_begin = begin, lit_end = end;
    else free_from = end + gap;
  };
  for (Index column = 0; lit && column < columns; ++column)
    if (const auto [first, last] = picture.covers(column); lit->col >= first && lit->col < last) add(column, true);
  for (Index column = 0; column < columns; column += step) add(column, false);
}

void add_numbers(Drawing& scene, const MatrixPicture& picture, const MatrixStyle& style, const MatrixGrid& grid,
                 const ColourScale& scale) {
  const float size = std::min(style.value, grid.height / kLineOfText);
  if (picture.values.cols() != picture.columns || size < style.least_value || grid.width < style.number_room) return;
  std::vector<Text> texts;
  for (Index r = 0; r < picture.values.rows(); ++r)
    for (Index c = 0; c < picture.values.cols(); ++c) {
      const float value = picture.values(r, c);
      if (!std::isfinite(value)) continue;
      texts.push_back(text_of({grid.plot.x + (static_cast<float>(c) + 0.5f) * grid.width,
                               grid.plot.y + (static_cast<float>(r) + 0.5f) * grid.height},
                              matrix_number(value), size, text_on(colour_of(scale, value)), style.measure,
                              Anchor::middle, Role::value));
      if (texts.back().width + 0.2f * size > grid.width) return;  // all have room, or none has a number
    }
  for (Text& text : texts) scene.add(std::move(text));
}

void add_outline(Drawing& scene, const MatrixPicture& picture, const MatrixStyle& style, const MatrixGrid& grid,
                 const MatrixCell& cell, float width) {
  const Index row = cell.row - picture.first_row;
  if (row < 0 || row >= picture.rows) return;
  for (Index column = 0; column < picture.values.cols(); ++column) {
    const auto [first, last] = picture.covers(column);
    if (cell.col < first || cell.col >= last) continue;
    const Box box{grid.plot.x + static_cast<float>(column) * grid.width,
                  grid.plot.y + static_cast<float>(row) * grid.height, grid.width, grid.height};
    scene.add(cell_outline(box, style.least_outline, style.ink.accent, width));
  }
}

}  // namespace

std::optional<MatrixCell> MatrixGrid::at(const MatrixPicture& picture, float x, float y) const {
  if (!plot.contains(x, y)) return std::nullopt;
  return MatrixCell{std::min(static_cast<Index>((y - plot.y) / height), picture.rows - 1),
                    std::min(static_cast<Index>((x - plot.x) / width), picture.values.cols() - 1)};
}

MatrixGrid matrix_grid(const MatrixSubject& subject, const MatrixStyle& style, const Box& area) {
  const MatrixPicture& picture = *subject.picture;
  const Axes along = axes(subject.trace, subject.id);
  float left = 0;
  for (Index row = 0; along.rows != Axis::one && row < picture.rows; ++row)
    left = std::max(
        left, style.measure(index_label(subject.trace, subject.id, along.rows, picture.first_row + row), style.label));
  left = std::min(left, style.most_labels) + (left > 0 ? 0.5f * style.label : 0);
  MatrixGrid grid;
  grid.width = std::min((area.w - left) / static_cast<float>(picture.values.cols()), style.widest);
  grid.height = std::min(area.h / static_cast<float>(picture.rows), style.highest);
  if (style.square) grid.width = grid.height = std::min(grid.width, grid.height);
  const auto whole = [&](float length) { return style.whole && length >= 3 ? std::floor(length) : length; };
  grid.width = whole(grid.width), grid.height = whole(grid.height);
  // The label of a low row reaches above it.
  grid.above = std::max(style.above * style.label, (style.label - grid.height) / 2);
  const float top = style.label + grid.above;
  grid.plot = {whole(area.x + left), whole(area.y + top), grid.width * static_cast<float>(picture.values.cols()),
               grid.height * static_cast<float>(picture.rows)};
  return grid;
}

void add_matrix(Drawing& scene, const MatrixSubject& subject, const MatrixStyle& style, const MatrixGrid& grid,
                const Box& area) {
  const MatrixPicture& picture = *subject.picture;
  const ColourScale scale = picture_scale(style.theme, picture, is_signed(subject.id));
  scene.hits.push_back({"matrix", grid.plot});
  scene.add(Cells{grid.plot, SharedMatrix(subject.picture, &picture.values), scale});
  scene.add(style.pen.frame(grid.plot, style.ink.line));
  add_row_labels(scene, subject, style, grid, area);
  add_column_labels(scene, subject, style, grid, area);
  add_numbers(scene, picture, style, grid, scale);
  if (subject.chosen) add_outline(scene, picture, style, grid, *subject.chosen, 2 * style.pen.width);
  if (subject.pointed) add_outline(scene, picture, style, grid, *subject.pointed, style.pen.width);
}

}  // namespace headlight
