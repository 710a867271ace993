// The lines of the Flow view: the largest weights of heads, found row by row, so that no pattern is stored.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "derived/fold.h"

namespace headlight {

/// A weight from a query to a key; where tokens are folded, from a group of them to another.
struct FlowLine {
  Index query = 0, key = 0;
  float weight = 0;

  friend bool operator==(const FlowLine&, const FlowLine&) = default;
};

/// A pattern of at most this many cells gives all of its lines. Of a larger one each query keeps its strongest
/// kLinesOfQuery keys and each key its strongest kLinesOfKey queries, so that every word has some.
inline constexpr Index kAllLines = 128 * 128;
inline constexpr std::size_t kLinesOfQuery = 8, kLinesOfKey = 4;

/// The lines of one head, the strongest first (of equal ones by query, then key); none of weight 0 or blocked. An empty
/// list when `stop` became true.
std::vector<FlowLine> strongest_lines(const Trace& trace, const HeadRef& head, const std::atomic<bool>& stop);

/// The same of a map that is there.
std::vector<FlowLine> strongest_lines(const Matrix& weights);

/// The question: an answer, and some of its heads.
struct FlowQuestion {
  std::shared_ptr<const Trace> trace;
  std::vector<HeadRef> heads;
  std::shared_ptr<const FoldedMaps> folded = {};  // of the trace, where its tokens are folded; null elsewhere

  friend bool operator==(const FlowQuestion&, const FlowQuestion&) = default;
};

/// How tokens of a stack are folded in the lines; null where they are not.
const FoldedStack* fold_of(const FlowQuestion& question, Stack stack);

struct FlowLines {
  FlowQuestion question;
  std::vector<std::vector<FlowLine>> heads;  // one list for each head that was asked about
};

/// The answer; null when `stop` became true.
std::shared_ptr<const FlowLines> look_at_flow(const FlowQuestion& question, const std::atomic<bool>& stop);

}  // namespace headlight
