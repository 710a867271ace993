// heads --effect: by what a head is replaced, and what is compared; of one text or of many.
#pragma once

#include <string>

#include "cli/options/metric_options.h"
#include "cli/study.h"
#include "heads/head_effects.h"

namespace headlight {

struct EffectOptions {
  std::string baseline;  // mean:FILE or resample:FILE; empty: Edits::off_as
  MetricOptions metric;
  StudyOptions study;
};

/// Reads the baseline's sentences and, of an answer that is there, the metric. Errors: another baseline, a file that
/// cannot be read, a word that the model does not have.
Status take_effects(const EffectOptions& options, const Document& document, const Lexicon& lexicon, int threads,
                    const Trace* trace, EffectWanted& effects);

/// The effects over the rows of --pairs.
Result<int> study_effects(const QuestionCommand& command, const EffectOptions& options);

}  // namespace headlight
