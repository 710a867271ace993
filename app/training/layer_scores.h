// How well each layer of a model shows each relation of the grammar.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "train/measure/relations.h"

namespace headlight {

/// Larger models are not measured in the window: it would also make fresh weights of the same shape, and take minutes.
inline constexpr Index kMostMeasured = Index{1} << 27;  // numbers of a model's layers

/// Of a model what `headlight heads --relations --by layer` measures, on the same sentences.
struct LayerScores {
  std::weak_ptr<const Model> model;
  std::vector<RelationScore> relations = {};
  std::string problem = {};  // why nothing was measured
};

/// Null where it was stopped. `grammar` may be null: then that is the problem.
std::shared_ptr<const LayerScores> measure_layers(const std::shared_ptr<const Model>& model, const Grammar* grammar,
                                                  Progress& progress);

}  // namespace headlight
