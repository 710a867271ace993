// The state from which an interrupted training resumes: resume.safetensors beside its model.
#pragma once

#include <filesystem>

#include "train/plan.h"

namespace headlight {

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
