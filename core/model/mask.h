// Attention masks: which query may attend to which key. A MaskSpec is the request; resolve() makes a sentence's Mask.
#pragma once

#include <algorithm>
#include <compare>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/matrix.h"
#include "base/result.h"
#include "model/tokens.h"

namespace headlight {

/// One cell painted by hand; it overrides everything else.
struct PaintedCell {
  Index query = 0;
  Index key = 0;
  bool allowed = false;

  friend auto operator<=>(const PaintedCell&, const PaintedCell&) = default;
};

struct BatchMask;  // model/batch_mask.h

struct MaskSpec {
  bool causal = false;
  bool padding = true;               // padding tokens are not attended to
  std::optional<Index> window = {};  // keys so far from the query or farther are blocked; 0: none; unset: as the
                                     // layer has it
  Index chunk = 0;                   // keys in another chunk of so many tokens are blocked; 0: no chunks
  Index prefix = 0;                  // the first so many keys are visible to all, whatever the fields above state
  std::shared_ptr<const Matrix> given = {};  // (T, S), added to the scores: 0 where a query may attend, -inf where not
  Index heads = 1;                           // of more than one, `given` has a matrix for each, one below the other
  /// Instead of `given`, with an axis for sentences: give_own_mask() fills `given` from it, and `sentences` with the
  /// number of sentences of the batch.
  std::shared_ptr<const BatchMask> batch = {};
  Index sentences = 0;
  std::vector<PaintedCell> painted = {};  // ordered by (query, key), each cell once

  friend bool operator==(const MaskSpec& a, const MaskSpec& b);
};

/// Adds one cell in order; a later one replaces an earlier one of the same query and key.
void paint(std::vector<PaintedCell>& painted, PaintedCell cell);

/// A MaskSpec without cells and matrix as text: none, or causal, padding, window:4, chunk:8, prefix:2 with + between
/// them; and the reverse. An Error names the words that are known.
std::string mask_words(const MaskSpec& spec);
Result<MaskSpec> parse_mask_words(std::string_view where, std::string_view text);
/// The largest window, chunk or prefix.
inline constexpr Index kMaxMaskTokens = Index{1} << 30;

/// Numbers up to this one mask their cell, where `largest` is the largest of the row: implementations use −1e4 (BERT's
/// first code), half precision's −65504, −1e9 or the smallest float instead of −inf, added to a score or replacing it.
/// They lie so far below the rest that the weight is 0: e^-4000 is 0 in every precision.
float masked_from(float largest);

/// The mask of one sentence: T queries × S keys. Where each head was given another one it is what they have in common,
/// and of_head() is what a head attends under.
class Mask {
 public:
  Index queries() const { return queries_; }
  Index keys() const { return keys_; }
  /// The number of heads with a mask each; 0: one for all.
  Index heads() const { return static_cast<Index>(heads_.size()); }
  const Mask& of_head(Index head) const { return heads_.empty() ? *this : heads_[static_cast<std::size_t>(head)]; }
  bool allowed(Index query, Index key) const;
  /// The number added to the score: 0, -inf, or the value of the given matrix; -inf where that value masks
  /// (masked_from). A row that is given nothing but such numbers keeps them: its softmax is not empty.
  float added(Index query, Index key) const;
  /// The number of leading keys that the queries before `query` may attend to at most: all others are blocked for them.
  Index reach(Index query) const;
  /// How many of the first `most` queries may attend to the same keys under both masks and, in self-attention (`self`),
  /// to no key beyond that number.
  Index common_rows(const Mask& other, Index most, bool self) const;
  /// Adds the mask to `scores` (R, S), the rows of queries `first` … `first` + R; or to their first columns alone.
  void add_to(MatrixRef scores, Index first) const;
  /// Whether it changes no score.
  bool is_open() const {
    return !causal_ && blocked_keys_.empty() && !given_ && painted_.empty() && !has_window() && !has_chunks() &&
           heads_.empty();
  }
  /// none, or causal, padding, window:4, chunk:8, prefix:2 with + between them, or custom, or heads, where each has
  /// another one: as it acts on this sentence.
  std::string kind() const;

 private:
  friend Result<Mask> resolve(const MaskSpec&, const Tokens& queries, const Tokens& keys, Index own_window);

  bool has_window() const { return window_ > 0 && window_ < std::max(queries_, keys_); }
  bool has_chunks() const { return chunk_ > 0 && chunk_ < std::max(queries_, keys_); }
  /// The keys that window and chunk leave to a query: [first, second).
  std::pair<Index, Index> near(Index query) const;
  float given(Index query, Index key) const;
  void find_masked_from();

  Index queries_ = 0, keys_ = 0;
  bool causal_ = false;
  Index window_ = 0, chunk_ = 0, prefix_ = 0;
  std::vector<Index> blocked_keys_;  // padding, ascending
  std::vector<bool> is_blocked_;     // (S)
  std::shared_ptr<const Matrix> given_;
  std::vector<float> masked_from_;    // (T) masked_from of each row; empty where no given number reaches that far
  std::vector<PaintedCell> painted_;  // those inside (T, S)
  std::vector<Mask> heads_;           // of each head; empty: this one
};

/// A given matrix of another shape than (T, S) is an Error, and so is NaN or +inf in it; a side of 1 broadcasts, as
/// (1, S), (T, 1) and (1, 1) do. Painted cells outside the sentence are left out; those inside hold in every head.
/// `own_window` is the layer's, where the spec sets none.
Result<Mask> resolve(const MaskSpec& spec, const Tokens& queries, const Tokens& keys, Index own_window = 0);

/// The rows of `given` that are those of a head.
Matrix given_of_head(const MaskSpec& spec, Index head);
/// An Error where each head was given a mask and they are not `heads`.
Status check_heads(std::string_view where, const Mask& mask, Index heads);

}  // namespace headlight
