// heads --effect: by what a head is replaced, and what is compared; of one text or of many.
#pragma once

#include "study/study.h"

namespace headlight {

/// Takes the heads that are chosen, and reads the baseline's sentences, where there is one. Errors: heads that cannot
/// be read; those of read_baseline().
Status take_effects(const EffectOptions& options, const Document& document, const Lexicon& lexicon, int threads,
                    EffectWanted& effects);
/// Takes the metric, where one is given, or the right word of a pair. Errors: no output layer, a query that is not
/// there, a word that the model does not have.
Status take_metric(const EffectOptions& options, const Trace& trace, EffectWanted& effects,
                   std::optional<Index> right = {}, std::optional<Index> wrong = {});

/// By how much the metric changes, else the probability of the most probable word, with these heads off together, and
/// with as many others at random, `draws` times; where they are all heads, with one at random. Errors: no output layer,
/// a baseline.
Result<PatchControl> effect_control(const Trace& trace, const std::vector<HeadRef>& chosen, Index draws,
                                    const EffectWanted& effects, int threads);

/// The effects over the rows of --pairs.
Result<int> study_effects(const QuestionCommand& command, const EffectOptions& options);

}  // namespace headlight
