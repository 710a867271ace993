// Numbers entered by the user in the window: a table that was typed or pasted, and one of its cells.
#pragma once

#include <optional>
#include <string>

#include "session/state.h"

namespace headlight {

/// The numbers that the dialog changes: those that are asked about, or what waits beside them; null where there are
/// none.
const OwnNumbers* typed_numbers(const AppState& state);

/// The dialog on this table, typed as it is now.
NumbersDialog dialog_on(const AppState& state, OwnTable table, std::size_t head = 0);
/// The same on the first table that there is, or on X.
NumbersDialog dialog_on_first(const AppState& state);

/// Replaces a table, or all tables by a whole {"x": …}. Text that cannot be read changes nothing; a table that does not
/// fit the present ones waits in the dialog for the others. The dialog shows the reason in one line.
void take_numbers(AppState& state, const TakeNumbers& command, CommandKind kind);

/// Sets one cell; a notice states the reason where that cannot be.
void set_own_number(AppState& state, const SetOwnNumber& command, CommandKind kind);

/// The typed number that a cell of a matrix of the answer shows; nothing where it was computed.
std::optional<OwnCell> own_cell(const AppState& state, const MatrixId& matrix, const MatrixCell& cell);

/// A table as it is typed: words in front of its rows, a row a line.
std::string typed_table(const NumberTable& table);

}  // namespace headlight
