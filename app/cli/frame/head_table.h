// The table of `headlight heads`: a row of numbers for every head, computed over the given sentences.
#pragma once

#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "card/relation_scores.h"
#include "cli/frame/reduced_question.h"
#include "cli/options/request_options.h"
#include "explain/patch/patching.h"
#include "figure/head_name.h"
#include "heads/circuits.h"
#include "heads/head_effects.h"
#include "heads/head_measures.h"
#include "heads/head_search.h"

namespace headlight {

/// The options of the table.
struct HeadsWanted {
  std::string sort = "layer";  // layer, a measure, effect, learned, found, moved, copying or composition
  bool ascending = false;
  bool effect = false;
  std::optional<WordPair> words = {};  // only heads that look from one word at the other …
  float above = 0.3f;                  // … with more than this weight
  bool value_norms = false;  // how long values are, beside the shares of first, special and most looked-at tokens
  bool probe = false;        // the sentences are repeated random tokens
  EffectWanted effects = {};
  /// Adds the metric, which is each sentence's own; empty: none is asked for.
  std::function<Status(const Trace& trace, EffectWanted& effects)> take_metric = {};
  std::string against = {};  // SOURCE of a model whose heads are compared with these; empty: none
};

/// How far a head's pattern is from that of the same head in another model that reads the same tokens: means over the
/// rows of all sentences.
struct MovedHead {
  double distance = 0;  // total variation: half of Σ|a − b|
  double changed = 0;   // rows whose strongest key is another
  Index rows = 0;
};

/// How long the values of a head are, the mean of ‖v‖: of the first token, and of all others that are not special.
struct ValueNorms {
  double first = 0, others = 0;
  Index num_first = 0, num_others = 0;
};

/// What the weights of a head are (heads/circuits.h), where it was asked for and is defined.
struct HeadWeights {
  std::optional<float> copying = {};
  Composition composition = {};
  std::optional<CircuitChange> change = {};  // to the other model
};

/// Measures that name a head on repeated random tokens, and how many standard deviations of the other heads it lies
/// above their mean.
inline constexpr Measure kProbed[] = {Measure::previous, Measure::duplicate, Measure::induction};
inline constexpr float kNamedAbove = 3;  // standard deviations

/// The largest weight that was found, and in which sentence.
struct FoundCell {
  Index sentence = 0;
  CellRef cell = {};
  float weight = 0;
};

struct HeadRow {
  HeadMeasures measures = {};
  std::string stack = {};  // Self | Encoder | Decoder | Cross, as exports have it
  std::optional<HeadEffect> effect = {};
  std::vector<const RelationScore*> learned = {};  // of the model's card
  std::vector<char> taught = {};                   // of each of these, whether the head was taught
  std::vector<char> doubted = {};                  // … and whether no cell here is such a pair
  std::optional<FoundCell> found = {};
  HeadName name = {};  // as the window calls it
  std::optional<ValueNorms> values = {};
  std::optional<MovedHead> moved = {};
  HeadWeights weights = {};
  std::array<std::optional<float>, std::size(kProbed)> above_others = {};
};

struct HeadTable {
  std::vector<HeadRow> rows = {};
  Index heads = 0;  // of which the rows are those that were found
  Index sentences = 1;
  bool of_words = false;  // effects are those on a word's distribution
  std::optional<WordPair> words = {};
  float above = 0;
  std::optional<PatchControl> control = {};  // what the metric changes by
  std::optional<SummedUp> summed = {};       // what the maps that stand for heads sum up
};

/// The rows in the order that is wanted. Over several sentences all rows of their patterns count equally, effects are
/// means, a found weight is the largest. `asked` must outlive the table. Errors: those of forward and of
/// head_effects, a word that no sentence has, another model that has other words or heads.
Result<HeadTable> measure_table(const Asked& asked, const HeadsWanted& wanted, int threads,
                                std::vector<Error>& warnings);

}  // namespace headlight
