#include "train/plan.h"

#include <cmath>

namespace headlight {
namespace {

/// Learned positions: of the longest sentence, with <s> before it.
constexpr Index kPlaces = static_cast<Index>(kLongestSentence) + 1;

}  // namespace

TrainingPlan default_plan(const Config& config) {
  TrainingPlan plan{.config = config};
  plan.config.norm = Norm::pre;
  plan.config.activation = Activation::gelu;
  plan.corruption.restore = 0.8f;
  plan.recipe.schedule.steps = 12000;
  plan.recipe.schedule.warmup = 500;
  plan.recipe.schedule.peak = 2e-3f;
  plan.task = task_of(config.arch);
  if (plan.task == Task::translation) plan.corruption.mask = 0.05f, plan.corruption.swap = 0.3f;
  return plan;
}

Index TrainingPlan::taught_sentences(Index step) const {
  const auto untaught = static_cast<Index>(static_cast<double>(teaching.from) * static_cast<double>(steps()));
  if (teaching.heads.empty() || step <= untaught) return 0;
  return static_cast<Index>(std::lround(static_cast<double>(teaching.share) * static_cast<double>(batch)));
}

Result<Training> begin_training(const TrainingPlan& plan, const Corpus& corpus) {
  if (const Status trainable = check_trainable(plan.config); !trainable) return trainable.error();
  const bool two_stacks = plan.config.arch == Arch::encoder_decoder;
  if (two_stacks != (plan.task == Task::translation))
    return bad_input("training", "task",
                     two_stacks ? "translation, as an encoder-decoder is trained" : "masked or causal",
                     name(plan.task));
  if (const Status done = check_teaching(plan.teaching, plan.config.num_layers, plan.config.num_heads); !done)
    return done.error();
  if (!plan.teaching.heads.empty() && (plan.task != Task::masked || (corpus.taught.empty() && !corpus.taught_grammar)))
    return bad_input("training", "--teach", "an encoder, and a treebank or a grammar", "none");
  if (two_stacks && (!corpus.translated() || !has_translations(*corpus.grammar)))
    return bad_input("training", "corpus", "a grammar with English sentences, which an encoder-decoder learns to say",
                     corpus.grammar ? "one without" : corpus.name);
  return Training{.network = fresh_network(plan.config, corpus.rows(), kPlaces)};
}

void train(Training& training, const TrainingPlan& plan, const Corpus& corpus, Workspace& workspace, Index until,
           const std::function<bool(const StepReport&, const Batch&)>& after) {
  while (training.step < std::min(until, plan.steps())) {
    const Batch batch = draw_batch(corpus, plan.task, plan.corruption, plan.config.seed, training.step + 1, plan.batch,
                                   {&plan.teaching, plan.taught_sentences(training.step + 1)});
    const StepReport report = train_step(training, batch, plan.recipe, workspace);
    if (!after(report, batch)) return;
  }
}

std::shared_ptr<const Model> trained_model(const Training& training, const Corpus& corpus, std::string name) {
  Model model = model_of(training.network);
  model.name = std::move(name);
  model.vocabulary = vocabulary_of(corpus);
  return std::make_shared<const Model>(std::move(model));
}

}  // namespace headlight
