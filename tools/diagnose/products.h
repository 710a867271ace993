// The products of an attention, right or with a slip, in doubles.
#pragma once

#include <optional>

#include "math/reference.h"

namespace headlight {

using reference::Grid;
using reference::Heads;

/// How columns belong to heads: d_k adjacent ones each; every H-th column; or the memory of the whole matrix read on as
/// (H, T, d_k).
enum class HeadSplit { blocks, interleaved, reshaped };
enum class Slip { none, transposed, bias_left_out, left_out };

/// Which head of keys and values a query head shares: that of its block of neighbours, or `in_turn`.
std::size_t group_of(std::size_t head, std::size_t heads, std::size_t groups, bool in_turn);
Heads split_heads(const Grid& side_by_side, Index num_heads, HeadSplit how);
/// q·kᵀ·scale of the first `count` heads of q; heads of k are shared by groups, in a row or in turn.
Heads dot_products(const Heads& query, const Heads& key, double scale, std::size_t count, bool in_turn = false);
/// x·Wᵀ + b with a slip: x·W, x·Wᵀ, or x. Nothing where the slip changes nothing or the shapes forbid it.
std::optional<Grid> project_with(const reference::LinearLayer& projection, const Grid& x, Slip slip);
/// Whether no row sums to another number than 1, by more than the tolerance.
bool sums_to_one(const Grid& weights, double tolerance);
/// Numbers of so many bits of mantissa; 0: as they are.
double rounded(double value, int bits);
Grid rounded(Grid values, int bits);

}  // namespace headlight
