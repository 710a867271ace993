#pragma once

#include "document/question_fields.h"
#include "view/settings.h"

namespace headlight {

/// `heads 4 → 8`: the numbers of a model that differ; empty where none does.
std::string changed_shape(Language language, const Config& before, const Config& now);

/// The difference between two questions, in a few words: "L1·H2 off", "heads 4 → 8". Of several changes the first.
std::string change_in_words(Language language, const Document& before, const Document& now,
                            const QuestionFields& fields = question_fields());

}  // namespace headlight
