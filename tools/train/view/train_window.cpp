#include <algorithm>

#include "gui/actions/possible.h"
#include "gui/actions/pushes.h"
#include "gui/frame/looks.h"
#include "gui/frame/no_answer.h"
#include "train/train_words.h"
#include "train/view/train.h"
#include "words/model_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

using namespace possible;
using namespace pushes;

bool has_shots(const Gui& gui) {
  const auto& run = trainings(gui.state).run;
  return in_view(gui, View::train) && run && !run->shots.empty();
}

bool goes_on(const Gui& gui) {
  const auto& run = trainings(gui.state).run;
  return run && is_active(*run);
}

/// Starts, pauses or continues the training.
void run_training(Gui& gui) {
  const auto& run = trainings(gui.state).run;
  if (run && can_resume(*run)) gui.push(ResumeTraining{});
  else if (run && is_active(*run)) gui.push(PauseTraining{});
  else if (gui.state.view.view == View::train) push_start(gui, false);
}

/// The kept step of a training before the one that is shown, or after it.
void step_shot(Gui& gui, bool back) {
  const auto& run = trainings(gui.state).run;
  const auto& shots = run->shots;
  const auto at = std::ranges::find_if(shots, [&](const Shot& shot) { return run->shown == shot.step; });
  if (back && at != shots.begin()) gui.push(ChooseShot{std::prev(at)->step});
  if (!back && at != shots.end())
    gui.push(ChooseShot{std::next(at) == shots.end() ? std::nullopt : std::optional(std::next(at)->step)});
}

constexpr Act kNoId = Act::count;  // the table gives them theirs
using Group = ActionGroup;

// clang-format off
constexpr ToolAction kTrainActions[] = {
    {"show_train", Act::show_compare,
     {kNoId, Group::views, kTrainActionWords.show_train, {Chord{Key{'4'}}}, nullptr,
      push_value<ShowView{View::train}>}},
    {"run_training", Act::choose_lesson, {kNoId, Group::training, kTrainActionWords.run_training,
     {Chord{.key = Key::enter, .ctrl = true}}, nullptr, run_training}},
    {"stop_training", Act::choose_lesson, {kNoId, Group::training, kTrainActionWords.stop_training,
     {Chord{.key = Key::enter, .ctrl = true, .shift = true}}, goes_on, push_new<StopTraining>}},
    {"earlier_step", Act::choose_lesson, {kNoId, Group::training, kTrainActionWords.earlier_step,
     {Chord{Key::page_up}}, has_shots, [](Gui& gui) { step_shot(gui, true); }, true}},
    {"later_step", Act::choose_lesson, {kNoId, Group::training, kTrainActionWords.later_step,
     {Chord{Key::page_down}}, has_shots, [](Gui& gui) { step_shot(gui, false); }, true}},
    {"newest_step", Act::choose_lesson, {kNoId, Group::training, kTrainActionWords.newest_step,
     {Chord{Key::end}}, has_shots, push_new<ChooseShot>}},
};
// clang-format on

/// Starts a training of the model's shape, where one can be; else it is disabled and its tooltip gives the reason.
void train_shape_button(Gui& gui) {
  const Status possible = check_plan(default_plan(gui.state.document.config));
  ImGui::BeginDisabled(!possible || goes_on(gui));
  if (flat_button(gui, "train this shape", gui.word(kModelWords.train_this_shape))) push_start(gui, true);
  ImGui::EndDisabled();
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  if (possible) explain_item(gui, kModelWords.tip_train_this_shape);
  else ImGui::SetTooltip("%s", gui.fonts.shown(plain_lines(gui, possible.error())).c_str());
}

std::vector<KeptPath> trained_paths(const Gui& gui) {
  std::vector<KeptPath> paths;
  for (const TrainedFolder& trained : trained_folders(gui.state)) {
    std::string what = std::to_string(trained.step);
    if (trained.unfinished)
      what += std::string(" / ") + std::to_string(trained.steps) + ", " + gui.word(kFileWords.unfinished);
    paths.push_back({trained.name, std::move(what), trained.folder});
  }
  return paths;
}

Command train_on(const std::string& path) { return SetCorpus{path}; }

}  // namespace

const ToolWindow kTrainWindow{.actions = kTrainActions,
                              .view = train_panel,
                              .status = training_status,
                              .learn = train_shape_button,
                              .kept = trained_paths,
                              .train_on = train_on};

void push_start(Gui& gui, bool usual) {
  TrainingPlan plan = next_training(gui.state);
  if (usual) plan = default_plan(plan.config);
  if (check_plan(plan)) gui.push(StartTraining{plan, usual ? CorpusChoice{} : trainings(gui.state).corpus});
}

}  // namespace headlight
