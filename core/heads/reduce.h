// Maps that sum up the attention of many heads: their mean, the largest weight, the sum, the strongest head, or
// attention rollout; over the heads of a layer, over layers, over blocks of tokens, over the sentences of a batch.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "base/progress.h"
#include "base/result.h"
#include "model/trace.h"

namespace headlight {

/// What of the numbers is kept. With n maps A of (T, S): mean ΣA / n; max and strongest max A, of the latter also which
/// head has it; sum ΣA; rollout as rollout_maps(), whose heads are averaged.
enum class ReduceBy { mean, max, sum, rollout, strongest };
inline constexpr std::string_view kReduceNames[] = {"mean", "max", "sum", "rollout", "strongest"};

/// What is summed up. Without `layers` each layer has a map, without `heads` each head; of rollout `heads` is a map up
/// to each layer, `layers` the last of them. Blocks of tokens have the columns of a block summed and its rows averaged,
/// so that rows keep their sum; of max and sum all cells of a block count alike. Sentences are laid over each other by
/// position, as far as all of them have it.
struct Reduction {
  ReduceBy by = ReduceBy::mean;
  bool heads = false, layers = false;
  bool tokens = false;  // special tokens, sentence A and B, the roles of a conversation
  bool words = false;   // the pieces of each word
  bool sentences = false;

  friend bool operator==(const Reduction&, const Reduction&) = default;
};

/// `mean:heads,layers`. Errors: another word, nothing that is summed up, rollout or strongest of what has none.
Result<Reduction> parse_reduction(std::string_view text);
std::string reduction_text(const Reduction& by);
/// heads, layers, … in this order, as the text has them.
std::vector<std::string_view> reduced_over(const Reduction& by);

/// The maps that are summed up, of one answer or of the sentences of a batch.
struct ReduceWhat {
  std::vector<const Trace*> traces;  // they must outlive what is made of them
  Stack stack = Stack::self;
  Reduction by = {};
  std::vector<HeadRef> only = {};  // heads of the stack; none: all
  bool without_special = false;    // special tokens have no row and no column …
  bool renormalize = false;        // … and before anything is summed up, rows are scaled back to 1
};

/// One side of the maps in one sentence.
struct ReducedAxis {
  std::vector<Index> of_token;      // the row or column of each token; −1: none
  std::vector<Token> groups = {};   // what each stands for: a token, a word, a block by its name, a position
  std::vector<double> counts = {};  // how many tokens each has
};

struct ReducedMaps {
  ReduceWhat of;
  Index layers = 0, heads = 0;                       // there are layers · heads maps; an axis that is summed up is 1
  std::vector<std::vector<HeadRef>> parts;           // of each map the heads that it sums up
  std::vector<HeadRef> off = {};                     // heads that are switched off, and left out
  std::vector<ReducedAxis> queries = {}, keys = {};  // of each sentence; their groups are the same
  std::vector<std::vector<Matrix>> rolled = {};  // of rollout, for each sentence, by layer; empty where none is chosen

  Index num_maps() const { return layers * heads; }
  const std::vector<Token>& rows() const { return queries.front().groups; }
  const std::vector<Token>& columns() const { return keys.front().groups; }
};

/// Heads that are switched off are left out where heads or layers are summed up (in a rollout they pass on nothing);
/// layers and heads of which none is left have no map. Errors: no head is left; no rollout; no blocks of tokens, or
/// others in each sentence; sentences without a common position; the largest of numbers below 0.
Result<ReducedMaps> reduced_maps(ReduceWhat of, int threads = 0);

/// Rows [first, first + count) of map number `map`, (count, columns), Trace::blocked() where all that it sums up is
/// blocked. Every sum is taken in doubles and in the same order for any rows that are asked for. `strongest` receives
/// of each cell the place in `parts` of the head that has its largest weight, the first of equal ones, and −1 where
/// blocked.
Matrix reduced_rows(const ReducedMaps& maps, Index map, Index first, Index count,
                    const std::atomic<bool>& stop = kNeverStops, Matrix* strongest = nullptr);

/// Tokens beside each other as one, its text as it was typed.
Token joined_tokens(const Tokens& tokens, Index first, Index count);

/// Sums of weights by blocks: adds the rows [first, …) of tokens to the rows of `sums` that stand for them, blocked
/// cells aside, and marks the cells that any weight was added to.
struct BlockSums {
  float blocked = -1;  // what stands in such cells; weights below 0 are numbers where it is −inf
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> sums;
  std::vector<char> open;  // of each cell

  BlockSums(Index rows, Index columns, float none = -1)
      : blocked(none), sums(decltype(sums)::Zero(rows, columns)), open(static_cast<std::size_t>(rows * columns)) {}
  /// Row 0 of `sums` is number `first_row`; `largest` keeps the largest weight in place of the sum.
  void add(const Matrix& weights, Index first, const std::vector<Index>& row_of, const std::vector<Index>& column_of,
           Index first_row = 0, bool largest = false);
  /// The sums as weights, `blocked` where nothing was added.
  Matrix weights() const;
};

}  // namespace headlight
