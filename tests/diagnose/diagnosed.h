// What the tests of the diagnosis share: its answer as text, and what an attention of the tests may have.
#pragma once

#include <functional>
#include <string>

#include "diagnose/diagnosis.h"
#include "diagnose/mistaken.h"

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

/// A right attention and one with a mistake; `both` is done to each before.
struct Sides {
  Attention right, wrong;
};
inline Sides sides_with(const std::function<void(Attention&)>& mistake,
                        const std::function<void(Attention&)>& both = nothing, std::uint64_t seed = 4) {
  Sides sides{Attention(seed), Attention(seed)};
  both(sides.right), both(sides.wrong);
  mistake(sides.wrong);
  sides.right.run(), sides.wrong.run();
  return sides;
}

inline const std::string kInverse = "scores multiplied by sqrt(d_k)";
inline const std::string kNoScale = "scores not divided by sqrt(d_k)";

}  // namespace headlight::mistaken
