// What a captured call has beside softmax(q·kᵀ/√d_k + mask)·v: groups, learned scales, soft caps, sinks, positions
// inside queries and keys, biases, a cache; and what was meant by them.
#pragma once

#include <vector>

#include "diagnose/capture/capture.h"
#include "diagnose/capture/capture_masks.h"

namespace headlight {

/// The same call as queries, keys, values and a mask alone: learned scales are multiplied into the queries; the soft
/// cap becomes a bias; the weights lose the part of each row that the sinks took.
CapturedCall without_parts(CapturedCall call);

/// What is unusual about the scale; nothing where it is 1/√d_k, or not known.
std::optional<MistakeCode> wrong_scale(const CapturedCall& call);
/// The words of such a code, with both numbers.
Bilingual scale_text(const MistakeCode& code, const CapturedCall& call);

struct GivenParts {
  std::vector<Mistake> mistakes;
  std::vector<Bilingual> taken;  // as given: a line each, without `where`
};

/// What these parts of calls[index] show by themselves, against `expect`, and against the calls before, as they were
/// captured; `given`: its facts after without_parts; `allowed`: the mask at work of each sentence and head.
GivenParts judge_parts(const std::vector<CapturedCall>& calls, Index index, const std::vector<FactRow>& given,
                       const std::vector<std::vector<Allowed>>& allowed);

}  // namespace headlight
