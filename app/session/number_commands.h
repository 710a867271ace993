// Numbers of one's own in the window: a table that was typed or pasted, and one of its cells.
#pragma once

#include <optional>
#include <string>

#include "session/state.h"

namespace headlight {

/// Takes a table in the place of another, or a whole {"x": …} in the place of all. What cannot be taken leaves
/// everything as it is, and the dialog says why in one line.
void take_numbers(AppState& state, const TakeNumbers& command, std::size_t kind);

/// Sets one cell; a notice says why where that cannot be.
void set_own_number(AppState& state, const SetOwnNumber& command, std::size_t kind);

/// The number of one's own that a cell of a matrix of the answer shows; nothing where it was computed.
std::optional<OwnCell> own_cell(const AppState& state, const MatrixId& matrix, const MatrixCell& cell);

/// A table as it is typed: words in front of its rows, a row a line.
std::string typed_table(const NumberTable& table);

}  // namespace headlight
