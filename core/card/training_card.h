// The card that describes how the model in a folder was made: training.json, and arcs.safetensors beside it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "card/relation_scores.h"
#include "card/training_plan.h"
#include "heads/arc_labels.h"

namespace headlight {

inline constexpr std::string_view kTrainingSchema = "headlight.training/1";

/// How a model was made and what was measured of it: training.json, and README.md in words.
struct TrainingCard {
  TrainingPlan plan = {};
  std::string corpus;                          // "grammar", or the names of texts
  std::vector<std::string> treebanks = {};     // that taught heads of plan.teaching
  std::string command;                         // that makes it again
  Index step = 0;                              // steps taken
  double tokens = 0;                           // words read
  std::optional<RelationReport> scores = {};   // of its heads, as far as they were measured
  std::shared_ptr<const ArcLabels> arcs = {};  // fitted beside taught heads; null: none
};

/// The contents of training.json; of the arcs their precisions. Errors name the file `where` and the field.
Result<TrainingCard> parse_card(std::string_view where, std::string_view text);

/// training.json and arcs.safetensors of a folder; nothing where it has no training.json.
Result<std::optional<TrainingCard>> read_card(const std::filesystem::path& folder);

}  // namespace headlight
