// A window whose trainings are so small that they take no time, in a folder of the test.
#pragma once

#include <thread>

#include "gui/harness.h"
#include "trains.h"

namespace headlight {

class TrainPanel : public GuiTest {
 protected:
  void SetUp() override { begin(); }
  void begin(ImVec2 size = {1280, 1200}) {
    Document document;
    document.config = {.d_model = 8, .num_heads = 2, .num_layers = 1, .ffn = 8};
    start(document, size);
    harness->loop = std::make_unique<Loop>(
        [] {}, std::string{},
        trains({.folder = folder / "trained", .threads = 1, .score_sentences = 12, .sample_sentences = 6}));
    harness->settle();
  }
  void plan_steps(Index steps) {
    TrainingPlan plan = trainings(harness->state).plan;
    plan.recipe.schedule.steps = steps;
    plan.batch = 4;
    harness->push(SetTrainingPlan{plan});
  }
  /// Frames until the training is so far.
  template <class Done>
  bool eventually(Done done) {
    for (int i = 0; i < 3000 && !done(); ++i) {
      harness->frame();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return done();
  }
  void wait() {
    harness->frame(2);
    harness->loop->settle_tools(harness->state);
    harness->frame(3);
  }
  const TrainingRun& run() { return *trainings(harness->state).run; }
  bool is(TrainingPhase phase) { return trainings(harness->state).run && run().phase == phase; }

  TemporaryFolder folder;
};

}  // namespace headlight
