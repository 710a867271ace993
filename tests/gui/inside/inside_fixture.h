// The view Inside: what it shows, and clicks into its lists and its matrix.
#pragma once

#include "gui/harness.h"

namespace headlight {

class InsideViewTest : public GuiTest {
 protected:
  static Document document_of(Arch arch) {
    Document document;
    document.config = {.arch = arch, .d_model = 8, .num_heads = 2, .num_layers = 3, .ffn = 12};
    document.mask.causal = is_causal_by_default(arch);
    document.target.text = "Book me a ticket";
    return document;
  }
  const ViewState& view() const { return harness->state.view; }
  const Look& look() const { return harness->state.view.look; }
  void look_at(const MatrixId& id, std::optional<MatrixCell> cell = std::nullopt) {
    harness->push(LookAt{{id, cell}});
    harness->settle();
  }
  void click(const std::string& region, const std::string& name) {
    ASSERT_TRUE(harness->scroll_into(region, name)) << name;
    harness->click(name);
    harness->settle();
  }
  /// The middle of a cell of the matrix that is shown.
  ImVec2 cell_point(MatrixCell cell) const {
    const Box plot = harness->box("matrix");
    const MatrixPicture& picture = harness->state.inside->matrix;
    return {
        plot.x + (static_cast<float>(cell.col) + 0.5f) * plot.w / static_cast<float>(picture.values.cols()),
        plot.y + (static_cast<float>(cell.row - picture.first_row) + 0.5f) * plot.h / static_cast<float>(picture.rows)};
  }
  float value_at(const MatrixId& id, MatrixCell cell) const {
    return rows_of(*harness->state.trace, id, cell.row, 1)(0, cell.col);
  }
};

}  // namespace headlight
