// Trainings so small that they take no time, and a window's loop that keeps them in a folder of the test.
#pragma once

#include "app/session_fixture.h"
#include "trains.h"

namespace headlight::fixture {

inline TrainingPlan tiny_plan(Index steps = 12) {
  TrainingPlan plan = default_plan({.d_model = 8, .num_heads = 2, .num_layers = 1, .ffn = 8, .seed = 5});
  plan.recipe.schedule.steps = steps;
  plan.recipe.schedule.warmup = 3;
  plan.batch = 4;
  return plan;
}

inline TrainerOptions tiny_trainer(const fs::path& folder) {
  return {.folder = folder, .threads = 1, .score_sentences = 12, .sample_sentences = 6};
}

inline const char* const kTrainingText =
    "the cat sat on the mat\nthe dog sat on the rug\na cat saw a dog\nthe dog saw the cat\n";

/// Sentences of a file in the folder, instead of the grammar: nothing is scored.
inline CorpusChoice tiny_text(const Folder& folder) { return {.text = folder.with("sentences.txt", kTrainingText)}; }

}  // namespace headlight::fixture
