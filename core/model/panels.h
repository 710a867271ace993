// Lays weights out as products read them: see PanelMatrix.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "model/weights.h"

namespace headlight {

/// Rows [first, first + count) of a weight, the same each time.
using RowsOf = std::function<Matrix(Index first, Index count)>;

/// The bytes that a weight (rows, cols) takes at most.
std::size_t packed_bytes(Index rows, Index cols);

/// Lays a weight out from this byte of `pages`, zeros, on; `begin` is then the byte behind it. A few rows of it are
/// asked for at a time.
std::shared_ptr<const PanelMatrix> packed(Index rows, Index cols, const RowsOf& rows_of,
                                          const std::shared_ptr<std::byte>& pages, std::size_t& begin);

/// The same in pages of its own.
std::shared_ptr<const PanelMatrix> packed(Index rows, Index cols, const RowsOf& rows_of);

}  // namespace headlight
