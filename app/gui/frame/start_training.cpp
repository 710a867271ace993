#include "gui/frame/start_training.h"

namespace headlight {

void say_start(Gui& gui, bool usual) {
  const AppState& state = gui.state;
  TrainingPlan plan = next_training(state);
  if (usual) plan = default_plan(plan.config);
  if (check_plan(plan)) gui.say(StartTraining{plan, usual ? CorpusChoice{} : state.training_corpus});
}

}  // namespace headlight
