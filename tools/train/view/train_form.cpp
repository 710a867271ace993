#include <algorithm>
#include <cmath>
#include <thread>

#include "gui/actions/actions.h"
#include "gui/actions/question.h"
#include "gui/frame/controls.h"
#include "gui/frame/looks.h"
#include "gui/frame/no_answer.h"
#include "train/train_words.h"
#include "train/view/train.h"
#include "words/mask_words.h"
#include "words/model_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

constexpr int kMostSteps = 1000000, kMostBatch = 4096, kMostSeed = 1000000000;

/// Where the controls of a row begin, behind their labels.
float column(const Gui& gui) { return std::max(120 * gui.unit, ImGui::GetContentRegionMax().x * 0.42f); }

void row_label(Gui& gui, const Words& label, const Words& tip) {
  ImGui::AlignTextToFramePadding();
  dim_text(gui, gui.word(label));
  explain_item(gui, tip);
  ImGui::SameLine(column(gui));
  ImGui::SetNextItemWidth(-1);
}

/// A low slider in the rest of the row with its value behind it; true while it moves to a number.
bool valued_slider(Gui& gui, const char* name, float& value, float least, float most, const Words& tip,
                   const std::string& shown) {
  const float text = ImGui::CalcTextSize("0.0002").x, top = ImGui::GetCursorPosY();
  ImGui::SetCursorPosY(top + (ImGui::GetFrameHeight() - gui.fonts.pixels(TextSize::small)) / 2);
  const float width = std::max(40 * gui.unit, ImGui::GetContentRegionAvail().x - text);
  const bool moved = slider(gui, name, value, least, most, tip, width);
  ImGui::SameLine(0, 6 * gui.unit);
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() - ImGui::GetStyle().FramePadding.y);  // on the slider's line
  dim_text(gui, shown);
  ImGui::SetCursorPosY(std::max(ImGui::GetCursorPosY(), top + ImGui::GetFrameHeightWithSpacing()));
  return moved && std::isfinite(value);
}

/// A whole number with buttons to step it; true where it was changed.
bool number_row(Gui& gui, const char* name, const Words& label, const Words& tip, int& value, int step, int least,
                int most) {
  row_label(gui, label, tip);
  ImGui::PushID(name);
  const bool changed = ImGui::InputInt("##number", &value, step, 10 * step);
  ImGui::PopID();
  gui.name_item(name);
  explain_item(gui, tip);
  value = std::clamp(value, least, most);
  return changed;
}

template <class Value, class Change>
void number(Gui& gui, const char* name, const Words& label, const Words& tip, Value now, int step, int least, int most,
            Change change) {
  int value =
      static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(now), static_cast<std::uint64_t>(most)));
  if (!number_row(gui, name, label, tip, value, step, least, most)) return;
  TrainingPlan plan = trainings(gui.state).plan;
  change(plan, value);
  gui.push(SetTrainingPlan{plan});
}

void schedule(Gui& gui) {
  const TrainingPlan& plan = trainings(gui.state).plan;
  number(gui, "training steps", kTrainWords.training_steps, kTrainWords.tip_training_steps, plan.steps(), 500, 1,
         kMostSteps, [](TrainingPlan& changed, int steps) { changed.recipe.schedule.steps = steps; });
  number(gui, "training batch", kTrainWords.training_batch, kTrainWords.tip_training_batch, plan.batch, 8, 1,
         kMostBatch, [](TrainingPlan& changed, int batch) { changed.batch = batch; });
  number(gui, "training seed", kModelWords.seed, kModelWords.tip_seed, plan.config.seed, 1, 0, kMostSeed,
         [](TrainingPlan& changed, int seed) { changed.config.seed = static_cast<std::uint64_t>(seed); });
  const float now = plan.recipe.schedule.peak;
  float exponent = std::log10(std::max(1e-5f, now));
  row_label(gui, kTrainWords.learning_rate, kTrainWords.tip_learning_rate);
  if (!valued_slider(gui, "learning rate", exponent, -5, -1, kTrainWords.tip_learning_rate, short_number(now))) return;
  const float power = std::pow(10.0f, std::floor(exponent));
  TrainingPlan next = plan;
  next.recipe.schedule.peak = std::round(std::pow(10.0f, exponent) / power * 10) / 10 * power;  // two digits
  gui.push(SetTrainingPlan{next});
}

/// A part of what is asked for: off, or on with its share.
struct PlanSwitch {
  const char* name;
  const Words &label, tip;
  float most;
  float& (*of)(TrainingPlan&);
  float usual;                                // where it is switched on and the usual plan has it off
  enum { every, corrupted, masked } of_task;  // every task; those that hide and swap words; the masked one alone
};

constexpr PlanSwitch kTerms[] = {
    {"hide", kTrainWords.term_hide, kTrainWords.tip_term_hide, 0.6f,
     [](TrainingPlan& p) -> float& { return p.corruption.mask; }, 0.15f, PlanSwitch::corrupted},
    {"swap", kTrainWords.term_swap, kTrainWords.tip_term_swap, 0.6f,
     [](TrainingPlan& p) -> float& { return p.corruption.swap; }, 0.15f, PlanSwitch::corrupted},
    {"keep", kTrainWords.term_keep, kTrainWords.tip_term_keep, 0.6f,
     [](TrainingPlan& p) -> float& { return p.corruption.keep; }, 0.1f, PlanSwitch::masked},
    {"family", kTrainWords.term_family, kTrainWords.tip_term_family, 1.0f,
     [](TrainingPlan& p) -> float& { return p.corruption.family; }, 0.7f, PlanSwitch::masked},
    {"restore", kTrainWords.term_restore, kTrainWords.tip_term_restore, 1.0f,
     [](TrainingPlan& p) -> float& { return p.corruption.restore; }, 0.8f, PlanSwitch::masked},
    {"training dropout", kMaskWords.dropout, kTrainWords.tip_term_dropout, 0.5f,
     [](TrainingPlan& p) -> float& { return p.recipe.objective.dropout; }, 0.1f, PlanSwitch::every},
    {"label smoothing", kTrainWords.term_smoothing, kTrainWords.tip_term_smoothing, 0.5f,
     [](TrainingPlan& p) -> float& { return p.recipe.objective.label_smoothing; }, 0.1f, PlanSwitch::every},
};

/// Where the sliders of the switches begin, behind the longest of their names.
float switch_column(const Gui& gui) {
  float widest = 0;
  for (const PlanSwitch& term : kTerms) widest = std::max(widest, ImGui::CalcTextSize(gui.word(term.label)).x);
  return std::max(column(gui), widest + ImGui::GetFrameHeight() + 30 * gui.unit);
}

bool is_part_of(const PlanSwitch& term, Task task) {
  return term.of_task == PlanSwitch::every || task == Task::masked ||
         (task == Task::translation && term.of_task == PlanSwitch::corrupted);
}

const Words& words_of(Task task) {
  if (task == Task::translation) return kTrainWords.task_translation;
  return task == Task::masked ? kTrainWords.task_masked : kTrainWords.task_causal;
}

void term_row(Gui& gui, const PlanSwitch& term) {
  TrainingPlan plan = next_training(gui.state);
  float& share = term.of(plan);
  bool on = share > 0;
  if (checkbox(gui, term.name, term.label, on, term.tip)) {
    TrainingPlan usual = default_plan(plan.config);
    const float usually = term.of(usual);
    share = !on ? 0 : usually > 0 ? usually : term.usual;
    gui.push(SetTrainingPlan{plan});
  }
  if (share <= 0) return;
  ImGui::SameLine(switch_column(gui));
  const std::string name = std::string(term.name) + " share";
  if (!valued_slider(gui, name.c_str(), share, 0.0f, term.most, term.tip, short_number(share))) return;
  share = std::clamp(std::round(share * 100) / 100, 0.01f, term.most);
  gui.push(SetTrainingPlan{plan});
}

void corpus_row(Gui& gui) {
  const CorpusChoice& corpus = trainings(gui.state).corpus;
  row_label(gui, kTrainWords.corpus, kTrainWords.tip_corpus);
  if (flat_button(gui, "corpus grammar", gui.word(kTrainWords.corpus_grammar), corpus.text.empty()) &&
      !corpus.text.empty())
    gui.push(SetCorpus{});
  explain_item(gui, kTrainWords.tip_corpus);
  ImGui::SameLine(0, 0);
  const bool repeated = corpus.text == kRepeatedRandom, own = !corpus.text.empty() && !repeated;
  if (flat_button(gui, "corpus repeated", gui.word(kTrainWords.corpus_repeated), repeated))
    gui.push(SetCorpus{std::string(kRepeatedRandom)});
  explain_item(gui, kTrainWords.tip_corpus_repeated);
  ImGui::SameLine(0, 0);
  if (flat_button(gui, "corpus text", gui.word(kFileWords.corpus_text), own))
    gui.push(Browse{Browser::Purpose::corpus, {}});
  explain_item(gui, kTrainWords.tip_corpus_text);
  if (!own) return;
  ImGui::PushTextWrapPos(0);
  dim_text(gui, gui.fonts.shown(corpus.text));
  ImGui::PopTextWrapPos();
  gui.name_item("corpus path", BoxKind::label);
}

std::string shape_words(Gui& gui, const Config& config) {
  const auto part = [&](const Words& label, Index value) {
    return " · " + std::string(gui.word(label)) + " " + std::to_string(value);
  };
  const Words& arch = config.arch == Arch::encoder   ? kModelWords.encoder
                      : config.arch == Arch::decoder ? kModelWords.decoder
                                                     : kModelWords.encoder_decoder;
  return gui.word(arch) + part(kModelWords.d_model, config.d_model) + part(kModelWords.heads, config.num_heads) +
         part(kModelWords.layers, config.num_layers) + part(kModelWords.feed_forward, config.ffn);
}

/// Roughly how long the training takes: at the pace of the last one of this shape, else of a processor that does so
/// many operations a second on a thread.
double expected_seconds(const AppState& state, const TrainingPlan& plan) {
  constexpr double kOperationsPerThread = 4e9, kWordsOfSentence = 12, kOperationsPerWeight = 6;
  const double words = kWordsOfSentence * static_cast<double>(plan.batch) * static_cast<double>(plan.steps());
  const auto& run = trainings(state).run;
  if (run && run->tokens_per_second > 0 && run->plan.config == plan.config) return words / run->tokens_per_second;
  const Config& config = plan.config;
  const double width = static_cast<double>(config.d_model);
  const double stacks = config.arch == Arch::encoder_decoder ? 2.5 : 1;
  const double weights = stacks * static_cast<double>(config.num_layers) *
                         (4 * width * width + 2 * width * static_cast<double>(config.ffn));
  const double threads = std::max(1u, std::thread::hardware_concurrency());
  return kOperationsPerWeight * weights * words / (kOperationsPerThread * threads);
}

}  // namespace

void training_form(Gui& gui) {
  const TrainingPlan plan = next_training(gui.state);
  const Status possible = check_plan(plan);
  ImGui::TextUnformatted(gui.word(kTrainWords.train_a_model));
  wrapped_small(gui, gui.word(kTrainWords.train_explained), gui.colours().dim);
  wrapped_small(gui, shape_words(gui, plan.config), gui.colours().text);
  gui.name_item("training shape", BoxKind::label);
  explain_item(gui, kTrainWords.tip_training_shape);
  wrapped_small(gui, gui.word(words_of(plan.task)), gui.colours().dim);
  gui.name_item("training task", BoxKind::label);
  ImGui::Dummy({0, 2 * gui.unit});
  ImGui::BeginDisabled(!possible);
  if (primary_button(gui, "start training", gui.word(kTrainWords.start_training))) push_start(gui, false);
  explain_item(gui, with_keys(gui, kTrainWords.tip_start_training, {act_of_tool("run_training")}));
  ImGui::EndDisabled();
  if (possible) {
    ImGui::SameLine(0, 10 * gui.unit);
    ImGui::AlignTextToFramePadding();
    dim_text(gui,
             std::string(gui.word(kTrainWords.about)) + " " + duration_words(gui, expected_seconds(gui.state, plan)));
    gui.name_item("training estimate", BoxKind::label);
    explain_item(gui, kTrainWords.tip_estimate);
  } else {
    wrapped_small(gui, plain_lines(gui, possible.error()), gui.colours().warning);
    gui.name_item("training problem", BoxKind::label);
  }
  const bool advanced = trainings(gui.state).advanced;
  const std::string label = std::string(gui.word(kTrainWords.advanced)) + (advanced ? " ▾" : " ▸");
  if (flat_button(gui, "training advanced", label.c_str(), advanced)) gui.push(ShowAdvanced{!advanced});
  explain_item(gui, kTrainWords.tip_advanced);
  if (!advanced) return;
  schedule(gui);
  corpus_row(gui);
  for (const PlanSwitch& term : kTerms)
    if (is_part_of(term, plan.task)) term_row(gui, term);
}

}  // namespace headlight
