// Packs weights in the layout that the products read: see PanelMatrix.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "model/weights.h"

namespace headlight {

/// Gives rows [first, first + count) of a weight; called more than once, with the same result.
using RowsOf = std::function<Matrix(Index first, Index count)>;

/// The bytes that a weight (rows, cols) takes at most.
std::size_t packed_bytes(Index rows, Index cols);

/// Packs a weight into `pages` (zeros) from byte `begin` on, and moves `begin` behind it. `rows_of` is called for a few
/// rows at a time.
std::shared_ptr<const PanelMatrix> packed(Index rows, Index cols, const RowsOf& rows_of,
                                          const std::shared_ptr<std::byte>& pages, std::size_t& begin);

}  // namespace headlight
