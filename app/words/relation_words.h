// The role of a head, in words: a relation in the direction in which the head looks, or the measure that is strongest.
#pragma once

#include <string>
#include <string_view>

#include "card/relation_scores.h"
#include "heads/head_measures.h"
#include "view/settings.h"

namespace headlight {

/// "object → its verb": a relation of the grammar or of Universal Dependencies, turned round where the head looks from
/// its second word at the first. One that neither has is called as it is named.
std::string relation_in_words(Language language, const std::string& relation, bool reversed = false);
/// The same of a score: the model card has words for a relation that no table has.
std::string relation_in_words(Language language, const RelationScore& relation);

/// "3 determiners", "2 × object → its verb": of cells with one relation.
std::string counted_relation(Language language, const std::string& relation, bool reversed, std::size_t count);

/// The same name where there is little room: "object → verb".
std::string brief_name(std::string name);
/// "object→verb", where there is less.
std::string close_name(std::string name);
/// Of a brief name in which two words look the second alone: "clause → verb" of "complement clause → verb".
std::string briefest_name(const std::string& brief);

}  // namespace headlight
