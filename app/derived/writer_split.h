// What wrote the score of a cell, as the views show it: the largest writers of both sides as a map, the terms by size.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "base/result.h"
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

struct WriterSplit {
  ScoreSplit split;
  std::vector<std::size_t> order = {};  // of split.terms: the largest first
  WriterAxis queries, keys;
  Matrix sums;        // (queries.size(), keys.size()): the terms of each pair of them
  float largest = 0;  // magnitude of any of them
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
Result<std::shared_ptr<const WriterSplit>> split_writers(const WriterQuestion& question, const std::atomic<bool>& stop);

/// Where the writer at one side of a cell can be looked at: its head, and of that head's row of this token the largest
/// weight. Nothing where it is no head.
struct WriterCell {
  HeadRef head;
  CellRef cell;
};
std::optional<WriterCell> cell_of_writer(const Trace& trace, const Writer& writer, Index token);

}  // namespace headlight
