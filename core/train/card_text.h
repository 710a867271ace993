// The model card in words: README.md of a trained model's folder.
#pragma once

#include <string>

#include "model/weights.h"

namespace headlight {

struct TrainingCard;

/// Markdown: what the model is, what it was trained on and how, what was added to plain word prediction, the scores.
std::string card_text(const Model& model, const TrainingCard& card);

}  // namespace headlight
