// What the tests of the diagnosis share: its answer as text, and what an attention of the tests may have.
#pragma once

#include <string>

#include "core/mistaken.h"
#include "diagnose/diagnosis.h"

namespace headlight::mistaken {

inline std::string diagnosed(const ExportFile& a, const ExportFile& b) {
  const FileComparison comparison = compare(a, b);
  EXPECT_FALSE(comparison.equal());
  const Diagnosis diagnosis = diagnose(a, b, comparison);
  return diagnosis.named() ? diagnosis.line().en : "none";
}

inline void nothing(Attention&) {}
inline void causal(Attention& a) { a.causal(); }
inline void with_padding(Attention& a) { a.pad(2); }

inline const std::string kInverse = "scores multiplied by sqrt(d_k)";
inline const std::string kNoScale = "scores not divided by sqrt(d_k)";

}  // namespace headlight::mistaken
