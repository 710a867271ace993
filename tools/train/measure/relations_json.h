// The scores of a model's heads as JSON: what `heads --relations` prints and a model's card keeps, which
// card/relation_scores.h reads.
#pragma once

#include <nlohmann/json.hpp>

#include "card/relation_scores.h"
#include "card/training_plan.h"

namespace headlight {

/// {"test_seed": …, "relations": [one a relation], "pairs": …, "literals": […]}, and where they were measured
/// "alignment" and "next_word".
/// `taught`: what heads of the model were taught, for "supervised".
nlohmann::ordered_json relations_json(const RelationReport& report, const std::vector<TaughtHead>& taught = {});

/// The heads of each layer that look best: {"test_seed": …, "relations": [{"relation", "label", "layers": [{"layer",
/// "head", "direction", "accuracy", "weight", "hard"}], "random", "offset", "family_offset", "sentences"}]}.
nlohmann::ordered_json layers_json(const RelationReport& report);

}  // namespace headlight
