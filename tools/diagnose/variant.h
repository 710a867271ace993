// One layer of attention as far as a file contains it, and what it becomes with slips. A slip is an edit of a Variant;
// one function computes the arrays of any of them (compute), in doubles.
#pragma once

#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "diagnose/masks.h"
#include "diagnose/products.h"

namespace headlight {

/// In a computed array: the cell is left open.
inline constexpr double kOpenCell = std::numeric_limits<double>::quiet_NaN();
/// The difference of arrays that cannot be compared.
inline constexpr double kApart = std::numeric_limits<double>::infinity();

/// The arrays of a layer, in the order in which they are computed.
enum class SlipStep : std::size_t { queries, keys, values, scores, weights, output };
inline constexpr std::size_t kSteps = 6;
inline constexpr const char* kStepNames[kSteps] = {"queries", "keys", "values", "scores", "attentions", "output"};
using Steps = unsigned;  // a bit each
constexpr Steps bit(SlipStep step) { return 1u << static_cast<unsigned>(step); }

/// (T, d_k), (S, d_k), (S, d_v), (T, S), (T, S) of each head; of the output one matrix. Empty: not known.
struct LayerArrays {
  std::array<Heads, kSteps> of = {};
  Heads& operator[](SlipStep step) { return of[static_cast<std::size_t>(step)]; }
  const Heads& operator[](SlipStep step) const { return of[static_cast<std::size_t>(step)]; }
};

/// The roles of projections.
inline constexpr std::size_t kQuery = 0, kKey = 1, kValue = 2, kOut = 3;

struct LayerInputs {
  std::array<Grid, 3> sides;  // (T, d_model), (S, d_model), (S, d_model) before projection
  std::array<reference::LinearLayer, 4> projections;
};

/// What the side that is taken to be right contains.
struct Known {
  LayerArrays right;   // as the file has them, weights in any case
  Steps stored = 0;    // those that the file has
  Heads logits = {};   // (T, S) scale·q·kᵀ before soft cap and mask, NaN where unknown; from scores with every bias
  Grid mask = {};      // (T, S) added to the scores: −inf where blocked
  bool exact = false;  // logits are known; else up to a number a row, since they come from weights
  bool direct = false;  // queries and keys are known
  double scale = 1, softcap = 0;
  Index num_heads = 0, num_kv_heads = 0, d_k = 0, d_model = 0;  // 0: not known
  std::array<Grid, 3> projected = {};                           // heads side by side; empty where not known
  std::vector<double> sinks = {};                               // (H) or none
  std::optional<LayerInputs> inputs = {};
  /// Sides that were projected with a slip: by their role, the role of the projection used, slip and bits.
  using Projected = std::map<std::tuple<std::size_t, std::size_t, Slip, int>, std::optional<Grid>>;
  std::shared_ptr<Projected> cache = std::make_shared<Projected>();

  Index queries() const { return mask.rows(); }
  Index keys() const { return mask.cols(); }
  bool is_square() const { return queries() == keys(); }
  bool has_mask() const { return !allowed_by(mask).all(); }
  bool has_values() const { return projected[kValue].size() > 0 && num_kv_heads > 0; }
};

/// Which of a row of things stands in each place.
enum class Order { own, next, before, reversed };
inline Index at_place(Index place, Index count, Order order) {
  switch (order) {
    case Order::own: return place;
    case Order::next: return (place + 1) % count;
    case Order::before: return (place + count - 1) % count;
    case Order::reversed: return count - 1 - place;
  }
  return place;
}

enum class SoftmaxKind { keys, queries, heads, twice, sigmoid, logarithm, none };
enum class MaskUse { before, after, as_numbers };

/// How an attention is computed; as it stands, rightly.
struct Variant {
  std::array<Slip, 4> projection = {};
  std::array<std::size_t, 3> projected_by = {kQuery, kKey, kValue};
  std::array<HeadSplit, 3> split = {};
  HeadSplit merge = HeadSplit::blocks;
  bool swapped = false, groups_in_blocks = false, no_softcap = false, no_sinks = false;
  double stored_query = 1;        // multiplies the stored queries alone
  double factor = 1;              // multiplies the scores
  std::optional<Grid> mask = {};  // replaces the right one
  MaskUse use = MaskUse::before;
  std::optional<double> blocked = {};  // the scores of blocked cells
  SoftmaxKind softmax = SoftmaxKind::keys;
  double weights_factor = 1;
  bool even_rows = false, averaged = false, transposed = false;
  std::vector<Index> order = {};                        // of the heads
  Order values = Order::own, value_heads = Order::own;  // tokens and heads of values, as the weights meet them
  std::optional<double> kept = {};                      // dropout: the factor of weights that are kept
  int bits = 0;                                         // of the mantissa of every operand of a product; 0: all
  int score_bits = 0, weight_bits = 0;                  // the same of scores and weights
  std::vector<Index> heads = {};                        // that have the slips; empty: all
};

struct Outcome {
  LayerArrays arrays;
  Index fitted = 0;  // how many numbers were taken from what was found
  double cells = 0;  // that were computed, those of each round; four columns of a product count as one cell
};

/// Queries to weights; those of the first `most_heads` heads alone where heads do not depend on one another. Where too
/// little is known, numbers are taken from `found`: the sum of a row with some unknown weights, and, where it matters,
/// the number up to which a row of logits is known. False: too little is known, or it cannot be computed so.
bool compute_weights(const Known& known, const Variant& variant, const LayerArrays& found, Outcome& outcome,
                     std::size_t most_heads = std::numeric_limits<std::size_t>::max());
/// Values and output from these weights; whatever is not known stays empty.
void compute_output(const Known& known, const Variant& variant, Outcome& outcome);

inline bool same_shape(const Grid& a, const Grid& b) { return a.rows() == b.rows() && a.cols() == b.cols(); }
inline bool same_shape(const Heads& a, const Heads& b) {
  return a.size() == b.size() && !a.empty() && same_shape(a[0], b[0]);
}

}  // namespace headlight
