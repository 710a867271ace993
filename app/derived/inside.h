// The data of the Inside view: the picture of the data's way with its matrices, one matrix large, the terms
// of one of its cells, and the steps behind one weight. Made on a worker; the window only draws it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "explain/diagram.h"
#include "explain/matrix_kinds.h"
#include "explain/softmax_gradient.h"
#include "explain/steps.h"

namespace headlight {

/// A cell of any matrix.
struct MatrixCell {
  Index row = 0, col = 0;
  friend bool operator==(const MatrixCell&, const MatrixCell&) = default;
};

/// A matrix that is looked at inside the model, and the cell of it whose terms are shown.
struct Look {
  MatrixId matrix{Quantity::weights};
  std::optional<MatrixCell> cell = {};
  friend bool operator==(const Look&, const Look&) = default;
};
/// At one weight of a head.
inline Look look_of_weight(const HeadRef& head, const CellRef& cell) {
  return {matrix_id(Quantity::weights, head), MatrixCell{cell.query, cell.key}};
}

/// Whether rows and columns are words: then cells are square, as those of every map of words.
inline bool is_pattern(const Axes& along) { return along.rows == Axis::queries && along.cols == Axis::keys; }

/// The question: an answer, a head, a matrix and a weight.
struct InsideQuestion {
  std::shared_ptr<const Trace> trace;
  HeadRef head;  // the chosen one
  Look look;
  std::optional<CellRef> cell;               // the weight whose steps are listed
  std::shared_ptr<const Trace> before = {};  // the answer that this one is compared with; null: none

  friend bool operator==(const InsideQuestion&, const InsideQuestion&) = default;
};

/// A part of a matrix as a picture: some whole rows, their columns pooled to the value of largest magnitude.
struct MatrixPicture {
  Index first_row = 0, rows = 0;  // of the matrix; the picture has a row for each
  Index columns = 0;              // of the matrix; the picture may have fewer
  Matrix values;                  // −inf where every value of a group is
  std::vector<Index> taken = {};  // of pooled columns: the column of the matrix that each value stands in
  float largest = 0;              // magnitude of any finite value
  Matrix moved = {};  // of a matrix that is compared: 1 where any value of a group moved, else 0; else empty

  /// The column of the matrix that value (row, c) stands in.
  Index column_of(Index row, Index c) const {
    return taken.empty() ? c : taken[static_cast<std::size_t>(row * values.cols() + c)];
  }
  /// Which columns of the matrix column `c` of the picture covers: [first, second).
  std::pair<Index, Index> covers(Index c) const {
    return {c * columns / values.cols(), (c + 1) * columns / values.cols()};
  }
};

struct Inside {
  InsideQuestion question;
  Diagram diagram;
  std::vector<MatrixPicture> pictures;       // one a node
  MatrixPicture matrix;                      // of question.look.matrix, or empty where this answer has none
  std::optional<Cell> terms;                 // of question.look.cell
  bool empty_row = false;                    // the mask blocks every key of the row of this cell
  std::optional<ScaleEffect> effect;         // of the rows of `matrix`, where they are scores or weights
  std::vector<Step> steps;                   // of question.cell
  std::vector<MatrixPicture> step_pictures;  // one a step
  Matrix row;  // the weights of the query of question.cell, (1, keys); empty where there is none
};

/// Rows of a node's picture, and of the large one.
inline constexpr Index kNodeRows = 32, kLookRows = 256;
/// Columns of them.
inline constexpr Index kNodeColumns = 128, kLookColumns = 2048;

/// The data flow through the layer of a head; in an encoder-decoder also through the encoder layer of the same number,
/// or its last.
Diagram diagram_of(const Trace& trace, const HeadRef& head);

/// The numbers of a step.
MatrixPicture picture_of(const Step& step);

/// Rows of `id` around `row`, at most `most_rows`, their columns pooled to at most `most_columns`.
MatrixPicture picture_of(const Trace& trace, const MatrixId& id, Index row, Index most_rows, Index most_columns);

/// The rows of the picture in which something moved; nothing where the matrix is not compared.
std::optional<Index> num_moved_rows(const MatrixPicture& picture);

/// What the softmax makes of a row of scores that are all `fill`: each of its weights (NaN of −∞).
float softmax_of_equal(Index keys, float fill);

/// The answer; null when `stop` became true.
std::shared_ptr<const Inside> look_inside(const InsideQuestion& question, const std::atomic<bool>& stop);

/// Whether its numbers can be below zero, so that they need colours on both sides of it.
bool is_signed(const MatrixId& id);

/// The matrix of an answer that a name stands for: `encoder.0.self.3.query` as `explain --format json` has it, `W_Q` or
/// `q_normed` as `explain` prints it, `head.query` as matrix_name() has it; of all but the first the one on the way of
/// `head`. Nothing where the answer has none of that name.
std::optional<MatrixId> find_matrix(const Trace& trace, const HeadRef& head, std::string_view name);

}  // namespace headlight
