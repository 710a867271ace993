// Maps with tokens folded for reading: special tokens left out, the pieces of a word as one row and one column, of two
// sentences the rows of one and the columns of one.
// Patterns of more than kThumbnail tokens are not stored, so folding computes them again, on a worker.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "base/progress.h"
#include "model/trace.h"

namespace headlight {

/// Of a pair of sentences A and B: the queries and keys that are shown. Rows are not scaled back to 1.
enum class PairPart { all, a_to_a, a_to_b, b_to_a, b_to_b };

/// The folds of the maps of the heads.
struct FoldChoice {
  bool special = false;           // special tokens are left out
  bool words = false;             // the tokens of a word are one row and one column
  PairPart pair = PairPart::all;  // of a pair of sentences, the part that is shown
  friend bool operator==(const FoldChoice&, const FoldChoice&) = default;
};

/// One side of a map: which tokens each of its rows, or columns, stands for.
struct FoldedAxis {
  struct Group {
    Index first = 0, count = 1;  // tokens beside each other
    friend bool operator==(const Group&, const Group&) = default;
  };
  std::vector<Group> groups;
  std::vector<Index> group_of;  // of every token; −1: left out
  std::vector<Token> tokens;    // of every group, its text as it was typed

  /// The group of a token; nothing where the token is left out or there is no such token.
  std::optional<Index> group(Index token) const;
  const Group& tokens_of(Index group) const { return groups[static_cast<std::size_t>(group)]; }
  /// Whether two tokens are one token, or in one group.
  bool together(Index a, Index b) const;
};

struct Fold {
  FoldedAxis queries, keys;
  FoldChoice done;               // what there was to fold, of what was wanted
  std::vector<char> rests = {};  // of every key, whether it is a special token that is left out

  /// The row and the column that show a cell of the pattern; nothing where one of its tokens is left out.
  std::optional<CellRef> groups_of(const CellRef& cell) const;
  /// The cell of the pattern that a row and a column stand for: that of their first tokens.
  CellRef cell_of(const CellRef& groups) const {
    return {queries.tokens_of(groups.query).first, keys.tokens_of(groups.key).first};
  }
  /// Whether the same tokens are in the same groups.
  friend bool operator==(const Fold& a, const Fold& b) {
    return a.done == b.done && a.queries.groups == b.queries.groups && a.keys.groups == b.keys.groups;
  }
};

/// Of PairPart, in its order.
inline constexpr std::string_view kPairNames[] = {"all", "a-a", "a-b", "b-a", "b-b"};
inline std::string_view name(PairPart part) { return name_in(kPairNames, part); }

/// The effect of folding on a map with these sides: special tokens beside others, words of several tokens, two
/// sentences (then `pair` is not PairPart::all). Special
/// tokens are those that Token::special names, padding that fills a sentence up among them; what was typed and marked
/// as padding is not. Words are those of word_numbers (text/tokenizer.h); a token without a byte range is alone.
FoldChoice foldable(const Tokens& queries, const Tokens& keys);

/// The tokens of the word that a token is part of; of a side longer than kMostFolded the token alone.
FoldedAxis::Group word_at(const Tokens& tokens, Index token);
/// Tokens beside each other as one, its text as it was typed.
Token joined(const Tokens& tokens, const FoldedAxis::Group& group);

/// Nothing where nothing of what is wanted is foldable; the other then has a group for every token.
std::optional<Fold> fold_of(const Tokens& queries, const Tokens& keys, FoldChoice wanted);
Fold fold_or_whole(const Tokens& queries, const Tokens& keys, FoldChoice wanted);

/// Weights (T, S), −1 where blocked, as (query groups, key groups). Special tokens are left out, as an export with
/// SpecialTokens::hide does. The weights to the tokens of a word are summed, and the weights from them averaged (Clark
/// et al. 2019, section 4.1), so that rows keep the sum of what is left. Of two sentences the rows and the columns that
/// are asked for are kept as they are. −1 where all cells of a group are blocked.
Matrix folded(const Matrix& weights, const Fold& fold);

/// (query groups): of each row the weight of the special tokens that are left out, 0 where none are.
Vector resting(const Matrix& weights, const Fold& fold);

/// Whether every cell that is left is the weight of one token at another, so that it can be edited.
inline bool is_of_tokens(const Fold& fold) { return !fold.done.words && fold.done.pair == PairPart::all; }

/// Whether the map shows the cell's weight as it is: of one token each.
bool is_of_single_tokens(const Fold& fold, const CellRef& cell);

/// The cell that is so many groups further, by its first tokens.
CellRef moved(const Fold& fold, CellRef from, Index queries, Index keys);

/// The maps of one stack of an answer.
struct FoldedStack {
  Fold fold;
  Index num_heads = 0;
  std::vector<Matrix> maps = {};  // layer after layer
  std::vector<Matrix> small =
      {};  // the same at most kThumbnail × kThumbnail, as thumbnails are; none where all maps are
  std::vector<Vector> rests = {};  // of every map resting(); none where special tokens are not left out

  std::size_t index_of(const HeadRef& head) const {
    return static_cast<std::size_t>(head.layer * num_heads + head.head);
  }
  const Matrix& map(const HeadRef& head) const { return maps[index_of(head)]; }
  const Matrix& thumbnail(const HeadRef& head) const { return small.empty() ? map(head) : small[index_of(head)]; }
};

/// The queries' or the keys' side of a folded stack; null where nothing is folded.
inline const FoldedAxis* folded_axis(const FoldedStack* folded, bool queries) {
  return !folded ? nullptr : queries ? &folded->fold.queries : &folded->fold.keys;
}

/// Longer sides are not folded, nor stacks whose patterns have more cells than this together: their maps would take
/// 160 MB.
inline constexpr Index kMostFolded = 512, kMostFoldedCells = 40'000'000;

/// An answer's maps as a look wants them, and what other looks could do.
struct FoldedMaps {
  struct Possible {
    FoldChoice choice;
    bool too_long = false;  // it would, of a shorter sentence
  };
  std::shared_ptr<const Trace> trace;
  FoldChoice wanted;
  std::array<Possible, 3> possible;  // by Stack
  std::array<std::optional<FoldedStack>, 3> stacks;
  float largest = 0;  // weight of every head of every stack, folded or not
};

/// Whether folding is fast enough for the window's thread: every pattern is stored, as a thumbnail of up to kThumbnail
/// tokens a side. Longer patterns are computed again, on a worker.
bool folds_at_once(const Trace& trace);

/// Cells shrunk to at most `most` × `most`; each shows the largest weight of those it covers, −1 where all are blocked.
Matrix pooled(const Matrix& weights, Index most);

/// Of every stack of the answer; not null but where `stop` became true. Special tokens alone, in rows that keep their
/// weights, are left out up to kThumbnail tokens: in a longer side such a column is as wide as a hair.
std::shared_ptr<const FoldedMaps> folded_maps(std::shared_ptr<const Trace> trace, FoldChoice wanted,
                                              const std::atomic<bool>& stop = kNeverStops, int threads = 0);

}  // namespace headlight
