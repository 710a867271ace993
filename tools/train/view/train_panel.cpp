#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "gui/actions/actions.h"
#include "gui/frame/controls.h"
#include "gui/frame/draw.h"
#include "gui/frame/no_answer.h"
#include "train/train_words.h"
#include "train/view/train.h"
#include "words/window_words.h"

namespace headlight {
namespace {

constexpr std::size_t kMostEarlier = 12;

const Words& phase_word(TrainingPhase phase) {
  switch (phase) {
    case TrainingPhase::preparing: return kTrainWords.phase_preparing;
    case TrainingPhase::running: return kTrainWords.phase_running;
    case TrainingPhase::paused: return kTrainWords.phase_paused;
    case TrainingPhase::measuring: return kTrainWords.phase_measuring;
    case TrainingPhase::done: return kTrainWords.phase_done;
    case TrainingPhase::stopped: return kTrainWords.phase_stopped;
    case TrainingPhase::failed: return kTrainWords.phase_failed;
  }
  return kTrainWords.phase_failed;
}

float share_done(const TrainingRun& run) {
  return static_cast<float>(run.step) / static_cast<float>(std::max<Index>(1, run.plan.steps()));
}

/// How far, how fast, how long.
std::string progress_words(const Gui& gui, const TrainingRun& run) {
  std::string line = std::string(gui.word(kTrainWords.training_step)) + " " + std::to_string(run.step) + " / " +
                     std::to_string(run.plan.steps());
  if (run.tokens_per_second > 0)
    line += formatted(" · %.0f %s", run.tokens_per_second, gui.word(kTrainWords.words_a_second));
  if (run.phase == TrainingPhase::running && run.seconds_left > 0)
    line += " · " + duration_words(gui, run.seconds_left) + " " + gui.word(kTrainWords.time_left);
  return line;
}

void run_buttons(Gui& gui, const TrainingRun& run) {
  const auto beside = [&] { ImGui::SameLine(0, 8 * gui.unit); };
  const bool runs = run.phase == TrainingPhase::running;
  bool any = false;
  if (runs || can_resume(run)) {
    if (flat_button(gui, "pause training", gui.word(runs ? kTrainWords.pause_training : kTrainWords.resume_training),
                    true))
      runs ? gui.push(PauseTraining{}) : gui.push(ResumeTraining{});
    explain_item(gui, kTrainWords.tip_pause_training, {act_of_tool("run_training")});
    any = true;
  }
  if (is_active(run)) {
    if (any) beside();
    if (flat_button(gui, "stop training", gui.word(kTrainWords.stop_training))) gui.push(StopTraining{});
    explain_item(gui, kTrainWords.tip_stop_training, {act_of_tool("stop_training")});
    any = true;
  }
  if (run.phase == TrainingPhase::stopped && !run.folder.empty()) {
    if (flat_button(gui, "continue training", gui.word(kTrainWords.resume_training), true))
      gui.push(ContinueTraining{run.folder});
    explain_item(gui, kTrainWords.tip_continue_training);
    any = true;
  }
  if (run.live && !shows_training(gui.state)) {
    if (any) beside();
    if (flat_button(gui, "show training", gui.word(kTrainWords.show_training))) gui.push(ShowTraining{});
    explain_item(gui, kTrainWords.tip_show_training);
  }
}

void run_part(Gui& gui, const TrainingRun& run) {
  const std::string name = run.name.empty() ? gui.word(kWindowWords.view_train) : run.name;
  ImGui::TextUnformatted(gui.fonts.shown(name).c_str());
  ImGui::SameLine(0, 8 * gui.unit);
  coloured_text(is_working(run) ? gui.colours().action : gui.colours().dim, gui.word(phase_word(run.phase)));
  gui.name_item("training phase", BoxKind::label);
  if (run.failure) {
    wrapped_small(gui, plain_lines(gui, *run.failure), gui.colours().warning);
    gui.name_item("training message", BoxKind::label);
  }
  if (run.live) {
    ImGui::ProgressBar(share_done(run), {-1, 6 * gui.unit}, "");
    gui.name_item("training progress", BoxKind::label);
    dim_text(gui, progress_words(gui, run));
  }
  run_buttons(gui, run);
}

void one_earlier(Gui& gui, const TrainedFolder& left) {
  ImGui::PushID(left.folder.c_str());
  const bool own = trainings(gui.state).run && trainings(gui.state).run->folder == left.folder;
  const std::string name = gui.fonts.shown(left.name);
  if (left.problem) {
    dim_text(gui, name);
    wrapped_small(gui, plain_lines(gui, *left.problem), gui.colours().warning);
  } else if (left.unfinished && !own) {
    if (flat_button(gui, ("go on " + left.name).c_str(),
                    (std::string(gui.word(kTrainWords.go_on_with)) + " " + name).c_str()))
      gui.push(ContinueTraining{left.folder});
    explain_item(gui, kTrainWords.tip_continue_training);
    ImGui::SameLine(0, 6 * gui.unit);
    ImGui::AlignTextToFramePadding();
    dim_text(gui, std::to_string(left.step) + " / " + std::to_string(left.steps));
  } else if (flat_button(gui, ("open " + left.name).c_str(), name.c_str(),
                         gui.state.document.model_path == left.folder)) {
    gui.push(OpenPath{left.folder});
  }
  ImGui::PopID();
}

/// Trainings that can be resumed first, then finished ones.
void earlier_part(Gui& gui) {
  const auto& all = trained_folders(gui.state);
  if (all.empty()) return;
  section(gui, kTrainWords.trained_earlier);
  std::size_t shown = 0;
  for (const bool unfinished : {true, false})
    for (const TrainedFolder& left : all)
      if (left.unfinished == unfinished && shown++ < kMostEarlier) one_earlier(gui, left);
}

}  // namespace

std::string duration_words(const Gui& gui, double seconds) {
  const auto whole = static_cast<long>(std::clamp(std::ceil(seconds), 0.0, 1e8));
  const std::string rest = std::to_string(whole % 60) + " " + gui.word(kTrainWords.seconds);
  const std::string minutes = std::string(" ") + gui.word(kTrainWords.minutes);
  if (whole < 60) return rest;
  if (whole < 600) return std::to_string(whole / 60) + minutes + " " + rest;
  if (whole < 3600) return std::to_string(whole / 60) + minutes;  // no estimate is good to a second
  return std::to_string(whole / 3600) + " " + gui.word(kTrainWords.hours) + " " + std::to_string(whole / 60 % 60) +
         minutes;
}

void train_panel(Gui& gui) {
  const auto& run = trainings(gui.state).run;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2{8 * gui.unit, 4 * gui.unit});
  const float bottom = ImGui::GetCursorPosY() + ImGui::GetContentRegionAvail().y;
  if (run) run_part(gui, *run);
  if (run && run->live) {
    // Below an ended training the panel scrolls: there is height for the names of all curves.
    const float least = (is_active(*run) ? 320 : 400) * gui.unit;
    training_curves(gui, *run, is_active(*run) ? std::max(least, bottom - ImGui::GetCursorPosY()) : least);
  }
  if (!run || !is_active(*run)) {
    if (run) section(gui, kTrainWords.another_training);
    training_form(gui);
    earlier_part(gui);
  }
  ImGui::PopStyleVar();
}

void training_status(Gui& gui) {
  const auto& run = trainings(gui.state).run;
  if (!run || !is_active(*run) || gui.state.view.view == View::train) return;
  ImGui::SetNextItemWidth(180 * gui.unit);
  const std::string words = std::string(gui.word(phase_word(run->phase))) + " " +
                            std::to_string(static_cast<int>(100 * share_done(*run))) + " %";
  ImGui::ProgressBar(share_done(*run), {180 * gui.unit, 0}, words.c_str());
  gui.name_item("training status", BoxKind::label);
  explain_item(gui, kTrainWords.tip_training_status);
  if (ImGui::IsItemClicked()) gui.push(ShowView{View::train});
  ImGui::SameLine();
  if (flat_button(gui, "cancel training", gui.word(kTrainWords.stop_training))) gui.push(StopTraining{});
  explain_item(gui, kTrainWords.tip_stop_training, {act_of_tool("stop_training")});
  ImGui::SameLine();
}

}  // namespace headlight
