// Why two exports differ: each usual mistake is computed from the one that is believed, and named only where it
// explains what the other one holds.
#pragma once

#include <optional>
#include <string>

#include "diagnose/file_comparison.h"

namespace headlight {

struct Diagnosis {
  std::string text;       // "scores multiplied by sqrt(d_k)"; "A: …" where A would be the one that is wrong
  std::string array;      // that it explains
  Index layer = 0;        // of it; 0 where it has no layers
  double difference = 0;  // the largest between the two files, among the cells that it explains
  double left = 0;        // the largest between what it predicts and what was found
  std::string otherwise;  // the same if A were wrong and B right; empty where nothing explains that
};

/// B is under suspicion: `expected` is A. Looked at are the first layer whose attentions differ (later layers follow
/// from it), else its scores, by the weights that they come to, else its queries, keys and values, else the output. A mistake explains when it leaves no more than
/// the tolerance or a thousandth of the difference, and less than a tenth of it in any case, and when it took fewer
/// numbers from B than it explains. Nothing where no mistake of the table does.
std::optional<Diagnosis> diagnose(const ExportFile& expected, const ExportFile& found,
                                  const FileComparison& comparison);

/// The mistake in B that makes differences below the tolerance, because inputs near 0 give nearly even weights with it and
/// without. Tried are mistakes that take no number from B, where queries and keys are known, on attentions, scores and
/// output. It is named where its effect is larger than what rounding to float32 does, and B is nearer to it than to the
/// right answer by a factor of nine. Nothing where there is none.
std::optional<Diagnosis> hidden_mistake(const ExportFile& expected, const ExportFile& found);

}  // namespace headlight
