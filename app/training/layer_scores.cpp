#include "training/layer_scores.h"

namespace headlight {

std::shared_ptr<const LayerScores> measure_layers(const std::shared_ptr<const Model>& model, const Grammar* grammar,
                                                  Progress& progress) {
  auto scores = std::make_shared<LayerScores>(LayerScores{.model = model});
  if (!grammar) {
    scores->problem = bad_input("relations", "grammar", "the grammar that comes with the program", "none").message;
    return scores;
  }
  if (const auto small = check(model->config, kMostMeasured); !small) {
    scores->problem = small.error().message;
    return scores;
  }
  RelationOptions options;
  options.pairs = 0;  // the scores of the relations do not depend on them
  auto report = measure_relations(model, *grammar, options, progress);
  if (!report) {
    scores->problem = report.error().message;
    return scores;
  }
  if (!*report) return nullptr;
  scores->relations = std::move((*report)->relations);
  return scores;
}

}  // namespace headlight
