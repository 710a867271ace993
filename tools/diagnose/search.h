// The search for the slips that turn the arrays of one side into those of the other.
#pragma once

#include <vector>

#include "diagnose/slips.h"

namespace headlight {

/// One array that both files have.
struct JudgedArray {
  SlipStep step = SlipStep::weights;
  double tolerance = 0;  // absolute for weights, else times max(1, the largest of the row)
  double before = 0;     // the largest difference; infinite where shapes differ
  bool differs = false;
};

/// Slips that together explain every array.
struct Explanation {
  std::vector<const SlipRow*> slips;  // in the order in which they are made
  std::vector<Bilingual> texts;       // of each
  std::vector<Index> heads;           // that have the slips; empty: all
  std::vector<double> after;          // of each judged array that can be computed, in their order; NaN: it cannot
  double worst = 0;                   // the largest share of a difference that is left
  Index explained = 0;                // cells that agree, less the numbers that were taken
  Index decoys = 0;                   // none of which is explained so
};

struct SearchOptions {
  double cells = 0;      // after so many that were computed (Outcome) no further slips are tried
  bool hidden = false;   // differences are below the tolerance: what is left is held against what the slip does
  bool stored = false;   // the stored scores alone have the slips; what follows from them is right
  bool rounded = false;  // numbers are printed ones: no pairs are tried, and general slips where no other explains
};

struct Found {
  std::vector<Explanation> explanations;  // that explain equally well, the simplest first
  bool stopped = false;                   // the search ended before all was tried
};

/// Every array of `judged` is in both `known.right` and `found`. Tried are single slips in all heads, then in the
/// heads that differ, then pairs of slips, and pairs in these heads; the first explanation ends the search. Slips
/// explain where each array that they touch comes within its tolerance and to a tenth of its difference, all others
/// agree already, one that agrees stays known and equal, and no decoy (decoys_of) is explained as well. An array that
/// they touch and that cannot be computed is excused only where it follows from others that are explained.
Found search(const Known& known, const LayerArrays& found, const std::vector<JudgedArray>& judged,
             const SearchOptions& options);

/// Other arrays in place of those that differ, the same each time: random attention under the same mask; right
/// attention of other inputs; rows of `found` exchanged; its keys in reversed order. Each differs from `found` by
/// more than the tolerance: where nothing else can stand, as in a row with one key, there is none. `hidden`: the
/// differences, moved to other cells.
struct Decoy {
  LayerArrays arrays;
  bool same_mask = true;  // its weights are 0 where those of `found` are
};
std::vector<Decoy> decoys_of(const Known& known, const LayerArrays& found, const std::vector<JudgedArray>& judged,
                             bool hidden);

/// What is known, of queries of the other sign and keys half as large; or of values of the other sign.
enum class OtherInputs { queries_and_keys, values };
Known of_other_inputs(Known known, OtherInputs which);

/// Whether these slips explain the arrays; with hidden differences another measure (SearchOptions).
std::optional<Explanation> explain(const Known& known, const LayerArrays& found, const std::vector<JudgedArray>& judged,
                                   const std::vector<const SlipRow*>& slips, const std::vector<Index>& heads,
                                   const SearchOptions& options);

/// The arrays that both have.
std::vector<JudgedArray> judged_arrays(const Known& known, const LayerArrays& found, double tolerance);

/// The largest finite |number|; 0 where there is none.
double largest_of(const Heads& heads);

/// How far an array is from another: the largest difference over the cells that are not open, and whether each is
/// within the tolerance. Masked scores are equal whatever number stands there.
struct Distance {
  double largest = 0;
  bool within = true;
  double before = 0;   // the same between `right` and `found`, over the same cells
  Index cells = 0;     // of the heads with the slips, and not 0 in all of computed, found and right
  Index beyond = 0;    // of these cells: farther apart than the tolerance
  Index open = 0;      // cells that the right side has, and that are open
  bool varies = true;  // what was found in cells that are open is more than one number
};
struct Beside {
  const Heads* scores = nullptr;  // of weights: those of large scores may differ by what float32 leaves open
  const Heads* right = nullptr;
  const std::vector<Index>* heads = nullptr;  // that have the slips; null or empty: all
};
Distance distance(SlipStep step, const Heads& computed, const Heads& found, double tolerance,
                  const Beside& beside = {});

}  // namespace headlight
