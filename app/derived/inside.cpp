#include "derived/inside.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "explain/moved_rows.h"
#include "explain/steps.h"
#include "heads/head_measures.h"
#include "math/attention.h"
#include "math/block.h"

namespace headlight {

bool is_signed(const MatrixId& id) {
  switch (id.quantity) {
    case Quantity::exponentials:
    case Quantity::softmax:
    case Quantity::dropped:
    case Quantity::weights:
    case Quantity::logit_exponentials:
    case Quantity::probabilities: return false;
    default: return true;
  }
}

namespace {

/// Whole rows of a matrix, from `first_row` on, as a picture of at most `most_columns` columns.
MatrixPicture pooled(Matrix rows, Index first_row, Index most_columns) {
  MatrixPicture picture{.first_row = first_row, .rows = rows.rows(), .columns = rows.cols(), .values = std::move(rows)};
  for (Index i = 0; i < picture.values.size(); ++i)
    if (const float value = std::abs(picture.values.data()[i]); std::isfinite(value))
      picture.largest = std::max(picture.largest, value);
  if (picture.columns <= most_columns) return picture;
  Matrix fewer = Matrix::Constant(picture.rows, most_columns, -std::numeric_limits<float>::infinity());
  for (Index r = 0; r < picture.rows; ++r) {
    for (Index c = 0; c < most_columns; ++c) {
      const Index begin = c * picture.columns / most_columns, end = (c + 1) * picture.columns / most_columns;
      Index taken = begin;
      for (Index j = begin; j < end; ++j) {
        const float value = picture.values(r, j);
        if (!std::isfinite(value)) continue;
        if (!std::isfinite(fewer(r, c)) || std::abs(value) > std::abs(fewer(r, c))) fewer(r, c) = value, taken = j;
      }
      picture.taken.push_back(taken);
    }
  }
  picture.values = std::move(fewer);
  return picture;
}

void mark_moved(const InsideQuestion& question, const MatrixId& id, MatrixPicture& picture) {
  if (!question.before || is_learned(id.quantity) || !can_compare(*question.before, *question.trace, id)) return;
  const Matrix cells = moved_cells(*question.before, *question.trace, id, picture.first_row, picture.rows);
  picture.moved.resize(picture.rows, picture.values.cols());
  for (Index c = 0; c < picture.values.cols(); ++c) {
    const auto [first, last] = picture.covers(c);
    picture.moved.col(c) = cells.middleCols(first, last - first).rowwise().maxCoeff();
  }
}

}  // namespace

std::optional<Index> num_moved_rows(const MatrixPicture& picture) {
  if (picture.moved.size() == 0) return std::nullopt;
  return static_cast<Index>(moved_rows(picture.moved).size());
}

MatrixPicture picture_of(const Trace& trace, const MatrixId& id, Index row, Index most_rows, Index most_columns) {
  const Shape size = shape(trace, id);
  const Index rows = std::min(size.rows, most_rows);
  const Index first = std::clamp<Index>(row - most_rows / 2, 0, size.rows - rows);
  return pooled(rows_of(trace, id, first, rows), first, most_columns);
}

Diagram diagram_of(const Trace& trace, const HeadRef& head) {
  const bool one_layer = head.stack == Stack::encoder || !trace.encoder;
  const Index last = trace.num_layers(one_layer ? head.stack : Stack::encoder) - 1;
  return diagram_of(trace, head.layer, std::min(head.layer, last), head.head);
}

MatrixPicture picture_of(const Step& step) {
  return pooled(step.value.topRows(std::min(step.value.rows(), kNodeRows)), 0, kNodeColumns);
}

float softmax_of_equal(Index keys, float fill) {
  const Eigen::ArrayXf scores = Eigen::ArrayXf::Constant(keys, fill);
  const Eigen::ArrayXf exponentials = (scores - scores.maxCoeff()).exp();
  return exponentials(0) / exponentials.sum();
}

std::shared_ptr<const Inside> look_inside(const InsideQuestion& question, const std::atomic<bool>& stop) {
  auto inside = std::make_shared<Inside>();
  inside->question = question;
  const Trace& trace = *question.trace;
  const Look& look = question.look;
  if (exists(trace, look.matrix)) {
    const Shape size = shape(trace, look.matrix);
    const Index row = look.cell ? look.cell->row : 0;
    inside->matrix = picture_of(trace, look.matrix, row, kLookRows, kLookColumns);
    mark_moved(question, look.matrix, inside->matrix);
    if (look.cell && look.cell->row < size.rows && look.cell->col < size.cols)
      inside->terms = explain_cell(trace, look.matrix, look.cell->row, look.cell->col);
    const bool pattern = is_pattern(axes(trace, look.matrix));
    if (pattern)
      inside->effect = scale_effect(trace, {look.matrix.layer, look.matrix.head, look.matrix.stack},
                                    inside->matrix.first_row, inside->matrix.rows);
    if (inside->terms && pattern)
      inside->empty_row =
          !may_attend(trace.mask_of({look.matrix.layer, look.matrix.head, look.matrix.stack}), look.cell->row);
  }
  if (stop) return nullptr;
  if (question.cell) inside->row = attention_rows(trace, question.head, question.cell->query, 1);
  if (question.cell) inside->steps = steps_of(trace, question.head, *question.cell);
  for (const Step& step : inside->steps) inside->step_pictures.push_back(picture_of(step));
  if (stop) return nullptr;
  inside->diagram = diagram_of(trace, question.head);
  const Index around = question.cell ? question.cell->query : 0;
  for (const Node& node : inside->diagram.nodes) {
    if (stop) return nullptr;
    const bool there = exists(trace, node.shows);
    inside->pictures.push_back(there ? picture_of(trace, node.shows, around, kNodeRows, kNodeColumns)
                                     : MatrixPicture{});
    if (there) mark_moved(question, node.shows, inside->pictures.back());
  }
  return inside;
}

std::optional<MatrixId> find_matrix(const Trace& trace, const HeadRef& head, std::string_view name) {
  const auto known = [&](const MatrixId& id) { return exists(trace, id) ? std::optional(id) : std::nullopt; };
  if (const auto quantity = parse_matrix_name(name)) return known(matrix_id(*quantity, head));
  for (const Step& step : steps_of(trace, head, {}))
    if (step.name == name || symbol(step.id) == name) return step.id;
  for (const HeadRef& one : heads_of(trace))
    for (int i = 0; i <= static_cast<int>(Quantity::probabilities); ++i)
      if (const MatrixId id = matrix_id(static_cast<Quantity>(i), one); exists(trace, id) && path(trace, id) == name)
        return id;
  return std::nullopt;
}

}  // namespace headlight
