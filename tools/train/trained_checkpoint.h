// A trained model on disk: a folder in the Hugging Face layout with a card that describes how it was made.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "card/training_card.h"
#include "train/plan.h"
#include "write/safetensors.h"

namespace headlight {

/// Writes config.json, tokenizer.json, training.json, README.md, arcs.safetensors where the card has some, and
/// model.safetensors, each whole or not at all, into the folder, which is made where it is missing. The model must have
/// a vocabulary. `tokenizer`: the text of tokenizer.json, where the corpus had a tokenizer; else it holds the words of
/// the vocabulary, looked up as they are.
Status save_checkpoint(const std::filesystem::path& folder, const Model& model, const TrainingCard& card,
                       TensorType type = TensorType::float32, std::string_view tokenizer = {});

/// Writes arcs.safetensors (card/arc_labels_file.h), without the precisions.
Status write_arc_labels(const std::filesystem::path& path, const ArcLabels& labels);

/// The files of the card alone, beside a model that is there: training.json, README.md, arcs.safetensors.
Status save_card(const std::filesystem::path& folder, const Model& model, const TrainingCard& card);

/// Markdown: what the model is, what it was trained on and how, what was added to plain word prediction, the scores.
std::string card_text(const Model& model, const TrainingCard& card);

struct ResumedTraining {
  Training training;
  double tokens = 0;  // words that its steps read
};

/// Writes all that a training resumes from into one file, so that a stop at any moment loses nothing before it.
/// `tokens`: words read so far.
Status save_training(const std::filesystem::path& folder, const Training& training, const TrainingPlan& plan,
                     const Corpus& corpus, double tokens = 0);

/// Reads it back; the words read are those of training.json where an earlier version wrote resume.safetensors. Errors:
/// no such file, another plan or vocabulary, numbers that are not finite.
Result<ResumedTraining> resume_training(const std::filesystem::path& folder, const TrainingPlan& plan,
                                        const Corpus& corpus);

}  // namespace headlight
