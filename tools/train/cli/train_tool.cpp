#include "train/cli/train_tool.h"

#include "cli/frame/commands.h"
#include "cli/frame/tool_commands.h"
#include "session/loop/loop.h"
#include "train/cli/relations.h"
#include "train/run/training_commands.h"
#include "train/run/trainings.h"
#include "train/words.h"
#if HEADLIGHT_GUI
#include "train/view/train.h"
#endif

namespace headlight {

extern const NamedCommand kClaims, kTrain;

namespace {

/// Trains for a picture. What depends on this machine's speed is not shown.
Status train_for(Loop& loop, AppState& state, Index steps) {
  if (steps == 0) return Done{};
  Commands start{StartTraining{next_training(state), trainings(state).corpus, steps}};
  loop.step(state, start, 0);
  loop.settle_tools(state);
  TrainingRun& run = *trainings(state).run;
  if (run.phase == TrainingPhase::failed) return *run.failure;
  run.tokens_per_second = run.seconds_left = 0;
  return Done{};
}

/// Of `screenshot`.
void add_train_steps(Parser& parser, ScreenshotOptions& picture) {
  const auto steps = std::make_shared<Index>(0);
  parser.option("--train-steps", *steps, "Trains so many steps before the picture, of the plan that the window offers")
      .within(0, 1000000);
  picture.prepare = [steps](Loop& loop, AppState& state) { return train_for(loop, state, *steps); };
}

constexpr const NamedCommand* kOfTrain[] = {&kTrain, &kClaims};
constexpr ToolCommands kTrainCommands{.commands = kOfTrain, .relations = add_relations, .screenshot = add_train_steps};
#if HEADLIGHT_GUI
constexpr const ToolWindow* kWindow = &kTrainWindow;
#else
constexpr const ToolWindow* kWindow = nullptr;
#endif

}  // namespace

const Tool kTrainTool{
    .name = "train", .words = train_words_json, .state = &kTrainState, .commands = &kTrainCommands, .window = kWindow};

}  // namespace headlight
