// The steps of attention as math/reference.h writes them out, and the variants of them that usual mistakes compute.
// Unknown parts of a layer are empty; a variant that needs them gives nothing.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "math/reference.h"

namespace headlight {

using reference::Grid;
using reference::Heads;

/// In a prediction: the cell is left open.
inline constexpr double kFree = std::numeric_limits<double>::quiet_NaN();

struct LayerInputs {
  Grid query, key, value;  // (T, d_model), (S, d_model), (S, d_model) before projection
  reference::LinearLayer query_proj, key_proj, value_proj, out_proj;
};

/// The known parts of the layer that is taken to be right.
struct Known {
  Heads weights;     // (T, S)
  Heads dot;         // (T, S) q·kᵀ; empty where q and k are unknown
  Heads logits;      // (T, S) whose softmax the weights are: scale·dot + mask, or log(weights)
  Grid mask;         // (T, S) added to the scores: −inf where blocked
  double scale = 1;  // multiplies `dot`
  Index num_heads = 0;
  Index num_kv_heads = 0;  // 0 where unknown, as d_k
  Index d_k = 0;
  Grid query, key, value;  // (T, H·d_k), (S, H_kv·d_k), (S, H_kv·d_v) after projection, heads side by side
  std::optional<LayerInputs> inputs;

  Index queries() const { return mask.rows(); }
  Index keys() const { return mask.cols(); }
};

/// How the columns of a projection are split into heads: d_k adjacent columns each; every H-th column; or the memory of
/// the whole matrix reshaped to (H, T, d_k).
enum class HeadSplit { blocks, interleaved, reshaped };
Heads split_heads(const Grid& side_by_side, Index num_heads, HeadSplit how);

/// q·kᵀ of each head of q; heads of k are shared by groups.
Heads dot_products(const Heads& query, const Heads& key);

/// softmax(scale·dot + mask).
Heads attend(const Heads& dot, double scale, const Grid& mask);

/// Whether a query may attend to a key, as far as a mask says so by itself: values below −10⁴ block as −inf does.
using Allowed = Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
Allowed allowed_by(const Grid& mask);
/// 0 where allowed, −inf elsewhere.
Grid mask_of(const Allowed& allowed);
/// Every query's last key moved by so many.
Allowed shifted(const Allowed& allowed, Index by);
/// What such a mask is called, by −1 or 1.
std::string off_by_one_words(bool causal, Index by);

/// softmax over the rows of exp(logits + r), where the numbers r, one a row, are those that lead to `found` best: the
/// logits of a row are known up to such a number when only its softmax is. Columns of nothing but −inf are NaN.
Grid softmax_rows_up_to_offsets(const Grid& logits, const Grid& found);

enum class Slip { none, transposed, bias_left_out, left_out };
/// x·Wᵀ + b with a slip: x·W, x·Wᵀ, or x. Nothing where the slip changes nothing or the shapes forbid it.
std::optional<Grid> project_with(const reference::LinearLayer& projection, const Grid& x, Slip slip);

/// weights·values of each head.
Heads weighted_values(const Heads& weights, const Heads& values);

}  // namespace headlight
