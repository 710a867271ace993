// Why two exports differ: each usual mistake is computed from the one that is believed, and named only where it
// explains what the other one holds.
#pragma once

#include <optional>
#include <string>

#include "diagnose/file_comparison.h"
#include "diagnose/mistake.h"

namespace headlight {

struct Diagnosis {
  Mistake mistake;        // among the cells of the first array that it explains
  bool of_a = false;      // A would be the one that is wrong
  Index layer = 0;        // of the array; 0 where it has no layers
  std::string otherwise;  // "A: …": the text if A were wrong and B right; empty where nothing explains that

  /// "scores multiplied by sqrt(d_k)", "A: …" where A is the one that is wrong.
  std::string line() const { return (of_a ? "A: " : "") + mistake.text; }
};

/// B is under suspicion: `expected` is A. Looked at are the first layer whose attentions differ (later layers follow
/// from it), else its scores, by the weights that they come to, else its queries, keys and values, else the output. A
/// mistake explains when it leaves no more than the tolerance or a thousandth of the difference, and less than a tenth
/// of it in any case, and when it took fewer numbers from B than it explains. Nothing where no mistake of the table
/// does.
std::optional<Diagnosis> diagnose(const ExportFile& expected, const ExportFile& found,
                                  const FileComparison& comparison);

/// The mistake in B that makes differences below the tolerance, because inputs near 0 give nearly even weights with it
/// and without. Tried are mistakes that take no number from B, where queries and keys are known, on attentions, scores
/// and output. It is named where its effect is larger than what rounding to float32 does, and B is nearer to it than to
/// the right answer by a factor of nine. Nothing where there is none.
std::optional<Diagnosis> hidden_mistake(const ExportFile& expected, const ExportFile& found);

/// Two files, what differs, and why.
struct Examination {
  ExportFile a, b;
  FileComparison comparison = {};
  std::optional<Diagnosis> diagnosis = {};
  float hidden_by = 0;  // the tolerance that the difference is below; 0: it is above

  /// The diagnosis, or that none of the usual mistakes explains the difference; nothing where all is equal.
  std::vector<Mistake> mistakes() const;
};

/// Compares two files, and finds the mistake in B. Differences below the tolerance are looked into where that is no
/// larger than kCompareTolerance; where a mistake explains them, the comparison is so close that they are differences.
Examination examine(ExportFile expected, ExportFile found, float tolerance);

}  // namespace headlight
