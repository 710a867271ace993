// The usual mistakes as a table, a row each. A row computes what an implementation with that mistake would hold;
// whether it does is decided by comparing (diagnose/diagnosis.h). A new mistake is a new row.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/mistakes.h"

namespace headlight {

/// The array of one layer that a hypothesis predicts.
enum class PredictedArray { attentions, queries, keys, values, output };

struct Hypothesis {
  PredictedArray subject = PredictedArray::attentions;
  std::string text;  // what is wrong, as the user reads it
  /// `found` is the suspected layer, empty where that file does not have it. Nothing where too little is known.
  std::function<std::optional<Prediction>(const Known& known, const Heads& found)> predict;
  bool last_resort = false;  // explains so much that everything else is asked first
};

/// From the particular to the general: of two that explain equally well the earlier is meant.
std::vector<Hypothesis> hypotheses();

}  // namespace headlight
