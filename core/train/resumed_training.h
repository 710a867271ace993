// The state from which an interrupted training resumes, and its card.
#pragma once

#include <filesystem>

#include "train/trained_checkpoint.h"

namespace headlight {

struct ResumedTraining {
  Training training;
  double tokens = 0;  // words that its steps read
};

/// save_training, and the words that were read until then: in the same file, so that no kill comes between the two.
Status save_training(const std::filesystem::path& folder, const Training& training, const TrainingPlan& plan,
                     const Corpus& corpus, double tokens);

/// resume_training, and the words; those of training.json where an earlier version wrote resume.safetensors.
Result<ResumedTraining> resume_with_tokens(const std::filesystem::path& folder, const TrainingPlan& plan,
                                           const Corpus& corpus);

}  // namespace headlight
