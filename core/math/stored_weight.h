// Products of weights that stay in their file: converted and transposed as they are read, or packed once they are used
// often.
#pragma once

#include <memory>

#include "base/parallel.h"
#include "model/weights.h"

namespace headlight {

/// Inputs [k, k + count) of the outputs of a panel → (count, PanelMatrix::kPanel) at `to`, zeros in the columns beyond
/// the last output. `count` is at most kMostInputs.
inline constexpr Index kMostInputs = 512;
void transpose_stored(const StoredMatrix& stored, Index panel, Index k, Index count, float* to);

/// The same numbers in the layout that products read.
std::shared_ptr<const PanelMatrix> packed(const StoredMatrix& stored, const Threads& threads = {});

/// Counts a product, and packs the weight, where it may be, before the one from which on that is quicker. Null: the
/// product reads the file.
std::shared_ptr<const PanelMatrix> panels_of_used(const StoredMatrix& stored, const Threads& threads);

/// Whether all of `count` numbers of a kind, on any address, are finite.
bool all_finite(StoredMatrix::Kind kind, const char* bytes, std::size_t count, const Threads& threads);

}  // namespace headlight
