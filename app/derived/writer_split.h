// What wrote the score of a cell, as the views show it: the largest writers of both sides as a map, the terms by size.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "derived/fold.h"
#include "explain/score_split.h"

namespace headlight {

struct WriterQuestion {
  std::shared_ptr<const Trace> trace;
  HeadRef head;
  CellRef cell;

  friend bool operator==(const WriterQuestion&, const WriterQuestion&) = default;
};

/// One side of the map: writers in the order of the computation; the last, where `others` is above 0, is the sum of so
/// many more.
struct WriterAxis {
  std::vector<Writer> writers = {};
  std::size_t others = 0;

  std::size_t size() const { return writers.size() + (others > 0 ? 1 : 0); }
};

/// Why one word is looked at and not another: the difference of their scores in a row, over whole words, split over
/// what wrote the one side on which fewer writers carry it. What both words share cancels, so of the query only that is
/// left in which they differ.
struct Rivals {
  FoldedAxis::Group query = {}, word = {}, rival = {};  // the tokens of the three words
  float weight = 0, rival_weight = 0;  // of the whole words, weight ≥ rival_weight; means over the query's pieces
  double difference = 0;               // ln(weight / rival_weight), the mean over the query's pieces
  bool of_query = false;               // the lines are what wrote the query, else what wrote the two words

  struct Line {
    std::optional<Writer> writer = {};                    // none: a word of more pieces has more weight at equal scores
    double value = 0;                                     // of the difference
    std::optional<float> weight = {}, rival_weight = {};  // those above with the writer switched off, where it can be
  };
  std::vector<Line> lines = {};  // kMostRivalLines at most, the largest first
  double rest = 0;               // of the difference, what no line has

  /// The share of the difference that the lines have; above 1 or below 0 where the rest is against them or larger.
  double share() const { return 1 - rest / difference; }
  /// How far they explain it: 1 where they come to all of it, 0 where the rest is as large.
  double carried() const { return std::max(0.0, 1 - std::abs(rest / difference)); }
};
inline constexpr std::size_t kMostRivalLines = 5;
/// A row that gives both words less is not about them.
inline constexpr float kLeastRivalWeight = 0.01f;
/// From this share on the lines explain the difference.
inline constexpr double kCarried = 0.695;  // which stands there as 70 %

struct WriterSplit {
  ScoreSplit split;
  std::vector<std::size_t> order = {};  // of split.terms: the largest first
  WriterAxis queries, keys;
  Matrix sums;                        // (queries.size(), keys.size()): the terms of each pair of them
  float largest = 0;                  // magnitude of any of them
  std::optional<Rivals> rivals = {};  // found by split_writers alone
};

/// 0 … count − 1, those of which `magnitude` is largest first.
template <class Magnitude>
std::vector<std::size_t> largest_first(std::size_t count, const Magnitude& magnitude) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return magnitude(a) > magnitude(b); });
  return order;
}

/// Writers of a side that the map names.
inline constexpr std::size_t kNamedWriters = 16;

/// Errors: those of split_score.
Result<WriterSplit> writer_split(const Trace& trace, const HeadRef& head, const CellRef& cell);
/// Null when stopped.
Result<std::shared_ptr<const WriterSplit>> split_writers(const WriterQuestion& question, Progress& progress);

/// The word of the cell and its strongest rival in the row. Nothing where the row has no other word with a weight, both
/// have less than kLeastRivalWeight, the token is special, the side is longer than kMostFolded, the row was set by
/// hand, or when stopped. Errors: those of split_score and, of a pass without a writer, of forward.
Result<std::optional<Rivals>> rivals_of(const Trace& trace, const HeadRef& head, const CellRef& cell,
                                        Progress& progress);

/// Where the writer at one side of a cell can be looked at: its head, and of that head's row of this token the largest
/// weight. Nothing where it is no head.
struct WriterCell {
  HeadRef head;
  CellRef cell;
};
std::optional<WriterCell> cell_of_writer(const Trace& trace, const Writer& writer, Index token);

}  // namespace headlight
