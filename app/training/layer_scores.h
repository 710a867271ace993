// How well each layer of a model shows each relation of the grammar.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "train/measure/relations.h"

namespace headlight {

/// Larger models are not measured in the window: it would also make fresh weights of the same shape, and take minutes.
inline constexpr Index kMostMeasured = Index{1} << 27;  // numbers of a model's layers

/// Of a model what `headlight heads --relations --by layer` measures, on the same sentences. Null where it was stopped.
/// Errors: the grammar is null, or the model too large.
Result<std::shared_ptr<const std::vector<RelationScore>>> measure_layers(const std::shared_ptr<const Model>& model,
                                                                         const Grammar* grammar, Progress& progress);

}  // namespace headlight
