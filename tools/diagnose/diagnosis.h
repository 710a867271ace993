// Why two exports differ: each usual slip is made on the side that is right, and named only where every array that both
// files have then agrees.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/file_comparison.h"
#include "diagnose/texts.h"

namespace headlight {

/// What one verdict does to an array: the largest difference without the mistakes and with them made.
struct ArrayProof {
  std::string array;
  double before = 0;
  std::optional<double> after = {};  // none: it follows from the others, and was not computed
};

/// Mistakes that were made together.
struct Verdict {
  std::vector<Mistake> mistakes;
  std::vector<ArrayProof> proof;  // every array that both files have of the layer, in the order of the data's way
  std::vector<Index> heads;       // that have the mistakes; empty: all
  std::vector<Index> layers;      // that they explain, the first that differs among them
  Index decoys = 0;               // other attention in its place, none of which they explain; 0: rounding

  /// "scores not divided by sqrt(d_k), and mask missing, in head 2 alone".
  Bilingual text() const;
};

struct Diagnosis {
  std::vector<Verdict> verdicts = {};     // that explain equally well, the simplest first; none: nothing does
  std::optional<Verdict> rounding = {};   // its one "mistake" is mistakes::rounding, which is none
  bool of_a = false;                      // A would be the one that is wrong
  bool stopped = false;                   // the search ended at its limit
  Index layer = 0;                        // that is judged, the first that differs; 0 where arrays have no layers
  std::vector<Bilingual> unchecked = {};  // what differs and could not be judged, a line each

  bool named() const { return !verdicts.empty() || rounding; }
  /// The rounding or the simplest verdict, where something is named.
  const Verdict& first() const { return rounding ? *rounding : verdicts.front(); }
  /// "scores multiplied by sqrt(d_k)", "A: …" where A is the one that is wrong; empty where nothing is named.
  Bilingual line() const;
};

/// The limit of a search: the cells that it computes (Outcome), about a second for 128 tokens and 12 heads. It is no
/// time, so that the verdict is the same on every machine.
inline constexpr double kSearchCells = 250e6;

/// Looks for the mistake in `found`; `right` is taken to be right. Judged are queries, keys, values, scores, attentions
/// and output of the first layer that differs; later layers follow from it, and are listed beside it where the same
/// mistake explains them.
Diagnosis diagnose(const ExportFile& right, const ExportFile& found, const FileComparison& comparison,
                   double cells = kSearchCells);

/// The mistake in `found` that makes differences below the tolerance, because inputs near 0 give nearly even weights
/// with it and without. Tried are mistakes that take no number from it, where queries and keys are known. It is named
/// where its effect is larger than what rounding to float32 does, and every array is nearer to it than to the right
/// answer by a factor of nine.
Diagnosis hidden_mistake(const ExportFile& right, const ExportFile& found);

/// Which of two files is taken to be right.
enum class RightSide { a, b, either };

/// Two files, what differs, and why.
struct Examination {
  ExportFile a, b;
  FileComparison comparison = {};
  Diagnosis diagnosis = {};  // of B, or of A where B is right
  Diagnosis otherwise = {};  // of A where either may be right
  float hidden_by = 0;       // the tolerance that the difference is below; 0: it is above

  /// Those of all verdicts, or that none of the usual mistakes explains the difference; nothing where all is equal or
  /// rounded.
  std::vector<Mistake> mistakes() const;
};

/// Compares two files, and finds the mistake in B. Differences below the tolerance are looked into where that is no
/// larger than kCompareTolerance; where a mistake explains them, the comparison is so close that they are differences.
Examination examine(ExportFile a, ExportFile b, float tolerance, RightSide right = RightSide::a,
                    double cells = kSearchCells);

}  // namespace headlight
