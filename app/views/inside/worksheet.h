// The numbers of one small attention on pages of paper, with blanks to fill in by hand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "explain/matrices.h"
#include "figure/drawing/drawing.h"
#include "model/trace.h"
#include "view/settings.h"

namespace headlight {

/// The largest matrix of a worksheet, both ways.
inline constexpr Index kMostSheetCells = 16;

struct WorksheetOptions {
  HeadRef head = {};
  std::vector<Quantity> blank = {};  // whose cells are left empty …
  bool key = false;                  // … or, in the key, filled in, in the accent's colour
  Language language = Language::en;
};

/// `q`, `k`, `v`, `scaled`, `scores`, `weights`, `z`, `concat`, `output`: what may be left blank, and the names of it.
/// Errors: another name.
Result<std::vector<Quantity>> parse_blanks(std::string_view where, const std::vector<std::string>& names);

/// The pages (A4, upright): the head's matrices in the order of the computation, each with its formula and shape.
/// Errors: a matrix of more than kMostSheetCells rows or columns; a blank that this attention does not have.
Result<std::vector<Drawing>> draw_worksheet(const Trace& trace, const WorksheetOptions& options,
                                            const TextWidth& measure);

}  // namespace headlight
