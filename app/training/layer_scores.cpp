#include "training/layer_scores.h"

namespace headlight {

Result<std::shared_ptr<const std::vector<RelationScore>>> measure_layers(const std::shared_ptr<const Model>& model,
                                                                         const Grammar* grammar, Progress& progress) {
  if (!grammar) return bad_input("relations", "grammar", "the grammar that comes with the program", "none");
  if (const auto small = check(model->config, kMostMeasured); !small) return small.error();
  RelationOptions options;
  options.pairs = 0;  // the scores of the relations do not depend on them
  auto report = measure_relations(model, *grammar, options, progress);
  if (!report) return report.error();
  if (!*report) return std::shared_ptr<const std::vector<RelationScore>>();
  return std::make_shared<const std::vector<RelationScore>>(std::move((*report)->relations));
}

}  // namespace headlight
