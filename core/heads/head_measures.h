// The measures of each head: how it spreads its weight, how far it looks, and on which tokens its weight
// lies. Patterns are read row block by row block and never held whole.
//
// A is a head's pattern, weights after dropout and edits, A_ij from query i to key j. A measure is a mean over the rows
// that count: those of queries that are not padding, with any weight at all (a row that may attend to nothing has
// none). Over several sentences all rows count equally. Sums are in double; a measure is the nearest float.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "math/forward.h"

namespace headlight {

/// Those marked (self) compare positions of one sentence: an attention from one sequence to another has none of them.
enum class Measure {
  entropy,  // −Σ_j p_ij ln p_ij, p_ij = A_ij / Σ_j A_ij, in nats (Ghader & Monz 2017; Clark et al. 2019, section 3.3)
  normalized,  // each row's entropy / ln(keys that it may attend to), 0 … 1; rows of a single key are left out
  distance,  // (self) Σ_j A_ij |i − j| / Σ_j A_ij, in tokens (Vig & Belinkov 2019); of a picture between patches alone
  confidence,  // max_j A_ij (Voita et al. 2019; they leave out the end of the sentence)
  previous,    // (self) A_i,i−1, of all rows but the first (Clark et al. 2019, section 3.1)
  next,        // (self) A_i,i+1, of all rows but the last (Clark et al. 2019, section 3.1)
  same,        // (self) A_ii (Clark et al. 2019, section 3.1)
  first,       // A_i0; 0 is the first token that is not padding (Xiao et al. 2023)
  special,     // Σ_j A_ij over special tokens j (Clark et al. 2019, section 3.2)
  duplicate,   // (self) Σ_j A_ij, j < i, token j = token i; of the rows with such a j (Wang et al. 2022)
  induction,   // (self) Σ_j A_i,j+1 over those same j; of the same rows (Olsson et al. 2022)
  largest,     // max_ij A_ij
  sink,  // max_j of the mean over i of A_ij: the share of the most looked-at column, whatever token it is (Clark et
         // al. 2019, section 3.2, of [SEP]; Gu et al. 2025); of several sentences, each by its own column
};
inline constexpr std::array kMeasures{Measure::entropy,  Measure::normalized, Measure::distance,  Measure::confidence,
                                      Measure::previous, Measure::next,       Measure::same,      Measure::first,
                                      Measure::special,  Measure::duplicate,  Measure::induction, Measure::largest,
                                      Measure::sink};

/// As files and options call it.
std::string_view name(Measure measure);

/// The column of Measure::sink.
struct SinkColumn {
  std::optional<Index> key = {};  // of a single sentence: the token, or the number of the word
  std::string text = {};          // its
  float even = 0;                 // its share if each row spread its weight evenly over the keys that it may attend to
  /// ‖v‖ of its token, and the mean of all others that are not padding; of attention with values, of tokens alone.
  std::optional<float> value = {}, other_values = {};

  friend bool operator==(const SinkColumn&, const SinkColumn&) = default;
};

/// Nothing where no row has a measure; numbers below 0 are no weights, and have none.
struct HeadMeasures {
  using Values = std::array<std::optional<float>, kMeasures.size()>;
  HeadRef head;
  Values values = {};
  /// The same of A merged to words (Clark et al. 2019, section 4.1), in rows of words alone. A previous or next word is
  /// no special token; nothing where fewer than half of these rows have a measure.
  Values of_words = {};
  SinkColumn sink = {}, sink_of_words = {};

  const std::optional<float>& operator[](Measure measure) const { return values[static_cast<std::size_t>(measure)]; }
  const std::optional<float>& of_word(Measure measure) const { return of_words[static_cast<std::size_t>(measure)]; }
  friend bool operator==(const HeadMeasures&, const HeadMeasures&) = default;
};

/// Whether a head rests on one word: that has twice the weight that even rows would give it, and 0.4 of the rest. Of
/// heads with random scores (normal, variance 1) 1 in 1,000 does so with five words, 1 in 10,000 with six.
bool rests_on_one(const HeadMeasures& measures);

/// Sums over rows, from which measures follow.
struct MeasureSums {
  struct Mean {
    double sum = 0;
    Index count = 0;
  };
  struct OfRows {
    std::array<Mean, kMeasures.size()> means = {};
    std::optional<float> largest = {};
    SinkColumn sink = {};             // of the last sentence
    Mean even, values, other_values;  // of the sinks; `even` by rows, norms by sentences
  };
  struct OfHead {
    OfRows tokens = {}, words = {};
  };
  std::vector<HeadRef> heads = {};    // as heads_of() has them
  std::vector<OfHead> of_heads = {};  // one a head
};

/// Adds the rows of one more sentence; the answers are of one model. False when stopped. The same to the bit with any
/// number of threads (0: one for each processor).
bool add_sentence(MeasureSums& sums, const Trace& trace, Progress& progress, int threads = 0);

/// One entry a head.
std::vector<HeadMeasures> measures_of(const MeasureSums& sums);

/// Whether queries and keys are the same tokens, so that a token can look at itself.
bool is_one_sequence(const Trace& trace, Stack stack);

/// Of a single sentence; nothing when stopped.
std::optional<std::vector<HeadMeasures>> measure_heads(const Trace& trace, Progress& progress, int threads = 0);

/// The heads of the answer in the order of the data's way, then by layer and head; of one attention, or of all.
std::vector<HeadRef> heads_of(const Trace& trace, std::optional<Stack> stack = {});

/// The indices of `values` from the largest to the smallest, or the other way; equal ones stay in their order, absent
/// ones come last.
std::vector<std::size_t> ranking(const std::vector<std::optional<float>>& values, bool ascending);

}  // namespace headlight
