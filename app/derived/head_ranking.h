// How much each head of an answer shows of its sentence: which heads are worth a large map.
#pragma once

#include <memory>
#include <vector>

#include "base/progress.h"
#include "derived/weak_ref.h"
#include "model/trace.h"

namespace headlight {

struct RankingQuestion {
  WeakRef<Trace> trace;
  std::vector<HeadRef> named;  // the head of each cell of the sentence that has a name or refers, ascending
  friend bool operator==(const RankingQuestion&, const RankingQuestion&) = default;
};

struct HeadRanking {
  struct Entry {
    HeadRef head;
    float value = 0;  // see shown_by_head
  };
  WeakRef<Model> model;
  Config config;
  Tokens tokens, target;       // the sentence that it was made for
  std::vector<Entry> entries;  // as heads_of() has the heads

  /// Whether it was made for the model and the sentence of this question, whatever its masks and edits.
  bool is_of(const Request& request) const;
};

/// Below this value a head rests: its rows look at nothing but special tokens, or at everything alike.
inline constexpr float kLeastShown = 0.02f;

/// 0 … 1, the mean over the rows of words of w², where w is the largest weight of the row at another word. Rows with
/// fewer than two open words, and rows and columns of special tokens and padding, do not count. Where most rows look
/// equally far these count less, least where most look at one word; a named cell counts as two rows more with w = 1, of
/// which there are `named`. Of long sentences the thumbnails are read, cell for cell.
float shown_by_head(const Trace& trace, const HeadRef& head, Index named);

/// Null when stopped, or the trace is gone.
std::shared_ptr<const HeadRanking> rank_heads(const RankingQuestion& question, Progress& progress);

}  // namespace headlight
