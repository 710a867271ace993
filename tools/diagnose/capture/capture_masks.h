// What was meant by the mask of a captured call.
#pragma once

#include <optional>
#include <vector>

#include "diagnose/capture/capture.h"
#include "diagnose/masks.h"

namespace headlight {

/// Values above this one do not block where they are added to a score or replace it.
inline constexpr double kBlocking = -1e3;

/// `steps` as what they come to: blocked, bias, numbers, after, scales. Notes: what is not judged.
void take_steps(CapturedCall& call, std::vector<FactRow>& notes);

/// Rows of weights without what sinks took of them, and the same of what comes out.
void leave_out_sinks(CapturedCall& call);

/// "blocked scores are −100 in place of −∞", of the number that the steps put there.
Bilingual number_words(const CapturedCall& call);

struct MeantMask {
  std::vector<std::vector<Allowed>> allowed;     // of each sentence and head
  std::vector<Heads> bias;                       // the same, added to the scores; empty: nothing
  std::vector<std::optional<Mistake>> mistakes;  // of each sentence: what the mask at work shows by itself
};

/// The mask at work, unless it is one that only a mistake gives; then the one that was meant. `calls` are those of the
/// whole capture: a mask that one function was given may be applied in another.
MeantMask meant_mask(const std::vector<CapturedCall>& calls, const CapturedCall& call);

/// Rows and columns of one sentence and head of an array (B or 1, H or 1, T, S).
Grid cells_of(const Array& array, Index sentence, Index head);
/// The same of an array (K, rows, columns).
Grid rows_of(const Array& array, Index sentence);

}  // namespace headlight
