// A training that another program logs: its steps come to the slider while they are written.
#include <gtest/gtest.h>

#include "app/session_fixture.h"
#include "models/log_folder.h"
#include "models/open_model.h"
#include "session/state_rules.h"
#include "trains.h"
#include "write/safetensors.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;
using fixture::Folder;
using fixture::small_state;

/// As headlight.log writes it: one layer of two heads over three tokens, of which `first` is the first weight.
void log(const fs::path& folder, Index step, float first, const std::string& tokens = R"(["a", "b", "c"])") {
  std::vector<float> weights(18, 1.0f / 3);
  weights[0] = first;
  weights[1] = weights[2] = (1 - first) / 2;
  char name[40];
  std::snprintf(name, sizeof name, "step-%06ld.safetensors", static_cast<long>(step));
  ASSERT_TRUE(write_tensors(folder / name, {{"attentions", {1, 2, 3, 3}, weights.data()}},
                            {{"step", std::to_string(step)}, {"tokens", tokens}, {"key_tokens", tokens}},
                            TensorType::float32));
}

float first_weight(const AppState& state) {
  return state.document.model->given->stacks.at(Stack::self).patterns[0][0](0, 0);
}

std::vector<Index> steps_of(const AppState& state) {
  std::vector<Index> steps;
  if (trainings(state).run)
    for (const Shot& shot : trainings(state).run->shots) steps.push_back(shot.step);
  return steps;
}

TEST(LogFolder, HoldsStepsInTheirOrder) {
  const Folder folder;
  EXPECT_TRUE(logged_steps(folder.path()).empty());
  EXPECT_TRUE(logged_steps(folder / "none").empty());
  log(folder.path(), 200, 0.5f);
  log(folder.path(), 90, 0.5f);
  for (const char* name : {"step-.safetensors", "step-x.safetensors", "step-1.npz", "steps-000001.safetensors"})
    folder.with(name, "");
  const auto steps = logged_steps(folder.path());
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].step, 90);
  EXPECT_EQ(steps[1], (LoggedStep{200, folder / "step-000200.safetensors"}));
  const auto newest = open_model(folder.path());
  ASSERT_TRUE(newest) << newest.error().message();
  EXPECT_TRUE(newest->document.model->given);
  folder.with("config.json", "{}");
  EXPECT_TRUE(logged_steps(folder.path()).empty()) << "a checkpoint";
}

TEST(LogWatch, StepsComeToTheSliderWhileTheyAreWritten) {
  const Folder folder;
  log(folder.path(), 100, 0.25f);
  log(folder.path(), 200, 0.5f);
  AppState state = small_state();
  Loop loop({}, {});
  Commands open{OpenPath{folder.path().string()}};
  loop.step(state, open, 0);
  ASSERT_TRUE(fixture::eventually(loop, state, [&] { return steps_of(state).size() == 2; }));
  EXPECT_EQ(steps_of(state), (std::vector<Index>{100, 200}));
  EXPECT_EQ(state.view.view, View::train);
  EXPECT_EQ(trainings(state).run->phase, TrainingPhase::running);
  EXPECT_EQ(first_weight(state), 0.5f) << "the newest";
  EXPECT_FALSE(trainings(state).run->shown);

  log(folder.path(), 300, 0.75f);
  ASSERT_TRUE(fixture::eventually(loop, state, [&] { return trainings(state).run->step == 300; }));
  EXPECT_EQ(first_weight(state), 0.75f);
  EXPECT_EQ(trainings(state).run->plan.steps(), 300) << "the end of the slider";

  Commands look{ChooseShot{100}};
  loop.step(state, look, 0);
  EXPECT_EQ(trainings(state).run->shown, 100);
  EXPECT_EQ(first_weight(state), 0.25f);
  log(folder.path(), 400, 0.0f);
  ASSERT_TRUE(fixture::eventually(loop, state, [&] { return trainings(state).run->step == 400; }));
  EXPECT_EQ(first_weight(state), 0.25f) << "what is looked at stays";

  log(folder.path(), 450, 0.5f, R"(["another", "sentence", "."])");
  log(folder.path(), 500, 1.0f);
  ASSERT_TRUE(fixture::eventually(loop, state, [&] { return trainings(state).run->step == 500; }));
  EXPECT_EQ(steps_of(state), (std::vector<Index>{100, 200, 300, 400, 500}));
  EXPECT_FALSE(state.document.trained) << "no shape to be chosen";

  Commands stop{StopTraining{}};
  loop.step(state, stop, 0);
  EXPECT_EQ(trainings(state).run->phase, TrainingPhase::stopped);
}

TEST(LogWatch, ManySteps) {
  const Folder folder;
  for (Index step = 10; step <= 1000; step += 10) log(folder.path(), step, 0.5f);
  AppState state = small_state();
  Loop loop({}, {});
  Commands open{OpenPath{folder.path().string()}};
  loop.step(state, open, 0);
  ASSERT_TRUE(fixture::eventually(loop, state, [&] { return steps_of(state).size() == 50; }));
  for (const Index step : steps_of(state)) EXPECT_EQ(step % 20, 0);
}

TEST(LogWatch, WhatIsNoAttentionIsSaid) {
  const Folder folder;
  folder.with("step-000001.safetensors", "nothing");
  AppState state = small_state();
  Loop loop({}, {});
  Commands open{OpenPath{folder.path().string()}};
  loop.step(state, open, 0);
  ASSERT_TRUE(fixture::eventually(loop, state, [&] { return state.notice.has_value(); }));
  EXPECT_EQ(trainings(state).run->phase, TrainingPhase::failed);
  EXPECT_NE(state.notice->text.find("step-000001.safetensors"), std::string::npos);
}

}  // namespace
}  // namespace headlight
