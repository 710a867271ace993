// Statistics of every head of an answer beside its map: measures, the words it looks at, and what is lost without it.
// Computed only while a view shows it.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "derived/fold.h"
#include "derived/weak_ref.h"
#include "heads/head_effects.h"
#include "heads/head_measures.h"
#include "heads/head_search.h"

namespace headlight {

/// The order of the heads of the grid: layers, a measure, the loss without the head, or the largest weight between the
/// two words that are looked for.
struct HeadOrder {
  enum class By { layer, measure, effect, found } by = By::layer;
  Measure measure = Measure::entropy;  // where by == measure
  bool ascending = false;              // the smallest first

  friend bool operator==(const HeadOrder&, const HeadOrder&) = default;
};

/// Every order there is, as the window steps through them.
std::vector<HeadOrder> head_orders();
/// layer, effect, found, or the measure's name.
std::string_view name(const HeadOrder& order);
std::optional<HeadOrder> parse_head_order(std::string_view name);

/// A search for heads whose weight from one word to another is above a threshold.
struct HeadSearch {
  bool on = false;
  WordPair words = {};
  float above = 0.3f;

  friend bool operator==(const HeadSearch&, const HeadSearch&) = default;
};

/// Whether a thumbnail shows each cell by itself; that of a long sentence has the largest weight of several.
bool has_pixel_of_each_cell(const Trace& trace, const HeadRef& head);

/// The default cell where none is pinned: the largest weight of the last token that is not padding.
CellRef brightest_of_last_row(const Trace& trace, const HeadRef& head);

/// The largest weight of a head between words that were typed, which for long sentences is looked for in the last row
/// alone. Of a sentence without words its first cell.
CellRef strongest_cell(const Trace& trace, const HeadRef& head, const FoldedStack* folded = nullptr);

/// The statistics to compute for the heads of an answer.
struct HeadQuestion {
  WeakRef<Trace> trace;
  bool measures = false;
  std::optional<WordPair> words = {};

  friend bool operator==(const HeadQuestion&, const HeadQuestion&) = default;
};

/// The answer; what was not asked is empty.
struct HeadStats {
  WeakRef<Trace> trace;
  std::vector<HeadMeasures> measures = {};
  std::optional<WordPair> words = {};
  std::vector<StrongestCell> found = {};
};

/// The answer; results in `known` for the same trace are reused. Null when stopped, or the trace is gone.
std::shared_ptr<const HeadStats> answer_heads(const HeadQuestion& question, const HeadStats* known, Progress& progress);

/// What is lost without each head of an answer.
struct EffectQuestion {
  WeakRef<Trace> trace;
  friend bool operator==(const EffectQuestion&, const EffectQuestion&) = default;
};
/// Errors: those of head_effects. Null when stopped, or the trace is gone.
Result<std::shared_ptr<const std::vector<HeadEffect>>> answer_effects(const EffectQuestion& question,
                                                                      Progress& progress);

/// The entry of a head in a list that is in the order of heads_of(); null where it has none.
template <class Entry>
const Entry* entry_of(const std::vector<Entry>& all, const HeadRef& wanted) {
  const auto position = [](const HeadRef& head) {
    return std::tuple(std::find(std::begin(kStacks), std::end(kStacks), head.stack), head.layer, head.head);
  };
  const auto at = std::lower_bound(all.begin(), all.end(), wanted, [&](const Entry& entry, const HeadRef& head) {
    return position(entry.head) < position(head);
  });
  return at != all.end() && at->head == wanted ? &*at : nullptr;
}

/// The number by which a head is ordered; nothing where it is not known, and for the order of layers.
std::optional<float> order_number(const HeadOrder& order, const HeadRef& head, const HeadStats* stats,
                                  const std::vector<HeadEffect>* effects);

/// The heads of one stack in that order; empty where it is that of the layers, or no number is known.
std::vector<HeadRef> heads_in_order(const std::vector<HeadRef>& heads, const HeadOrder& order, const HeadStats* stats,
                                    const std::vector<HeadEffect>* effects);

}  // namespace headlight
