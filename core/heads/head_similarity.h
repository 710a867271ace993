// Which heads do alike: how far apart their patterns are, and an order in which like stands beside like.
#pragma once

#include <optional>
#include <vector>

#include "math/forward.h"

namespace headlight {

/// How far apart the heads of one attention are, (N, N) in the order of heads_of(trace, stack): the mean over the rows of
/// the Jensen–Shannon divergence of their weights, JS(p, q) = H((p + q) / 2) − (H(p) + H(q)) / 2, in nats, 0 … ln 2
/// (Clark et al. 2019, section 6). Rows of padding are left out, and those in which a head has no weight. Patterns of
/// more than kThumbnail tokens are compared as their thumbnails show them, each row scaled to sum to 1. Nothing when
/// stopped; the same to the bit with any number of threads.
std::optional<Matrix> head_divergence(const Trace& trace, Stack stack, Progress& progress, int threads = 0);

/// The rows of a divergence (N, N), like beside like: the leaves of a hierarchical clustering with average linkage, found
/// along chains of nearest neighbours (Murtagh 1983). Of the four ways to put two groups side by side, the one whose
/// touching heads are nearest; of equal ones the one that turns least. The end with the lower head stands first.
std::vector<Index> like_beside_like(const Matrix& divergence);

}  // namespace headlight
