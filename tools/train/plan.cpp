#include "train/plan.h"

#include <cmath>

namespace headlight {
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

Index taught_sentences(const TrainingPlan& plan, Index step) {
  const Teaching& teaching = plan.teaching;
  const auto untaught = static_cast<Index>(static_cast<double>(teaching.from) * static_cast<double>(plan.steps()));
  if (teaching.heads.empty() || step <= untaught) return 0;
  return static_cast<Index>(std::lround(static_cast<double>(teaching.share) * static_cast<double>(plan.batch)));
}

Result<Training> begin_training(const TrainingPlan& plan, const Corpus& corpus) {
  TRY(check_trainable(plan.config));
  const bool two_stacks = plan.config.arch == Arch::encoder_decoder;
  if (two_stacks != (plan.task == Task::translation))
    return bad_input("training", "task",
                     two_stacks ? "translation, as an encoder-decoder is trained" : "masked or causal",
                     name(plan.task));
  TRY(check_teaching(plan.teaching, plan.config.num_layers, plan.config.num_heads));
  if (!plan.teaching.heads.empty() && (plan.task != Task::masked || (corpus.taught.empty() && !corpus.taught_grammar)))
    return bad_input("training", "--teach", "an encoder, and a treebank or a grammar", "none");
  if (two_stacks && (!corpus.translated() || !has_translations(*corpus.grammar)))
    return bad_input("training", "corpus", "a grammar with English sentences, which an encoder-decoder learns to say",
                     corpus.grammar ? "one without" : corpus.name);
  constexpr Index kPositions = static_cast<Index>(kLongestSentence) + 1;  // <s> before the longest sentence
  return Training{.network = fresh_network(plan.config, corpus.rows(), kPositions)};
}

void train(Training& training, const TrainingPlan& plan, const Corpus& corpus, Workspace& workspace, Index until,
           const std::function<bool(const StepReport&, const Batch&)>& after) {
  while (training.step < std::min(until, plan.steps())) {
    const Batch batch = draw_batch(corpus, plan.task, plan.corruption, plan.config.seed, training.step + 1, plan.batch,
                                   {&plan.teaching, taught_sentences(plan, training.step + 1)});
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

namespace {

using Json = nlohmann::ordered_json;

/// Only in a plan that teaches, so that the JSON of other plans is unchanged.
void add_teaching(Json& json, const TrainingPlan& plan) {
  const Teaching& teaching = plan.teaching;
  if (teaching.heads.empty()) return;
  Json heads = Json::array();
  for (const TaughtHead& head : teaching.heads)
    heads.push_back({{"layer", head.layer}, {"head", head.head}, {"relations", head.relations}});
  json["teaching"] = {{"weight", plan.recipe.objective.attention},
                      {"share", teaching.share},
                      {"from", teaching.from},
                      {"grammar", teaching.grammar},
                      {"rest", teaching.rest},
                      {"hide", teaching.hide},
                      {"heads", heads}};
}

}  // namespace

nlohmann::ordered_json plan_json(const TrainingPlan& plan) {
  const Corruption& corruption = plan.corruption;
  const TrainingRecipe& recipe = plan.recipe;
  Json json = {{"task", name(plan.task)},
               {"seed", plan.config.seed},
               {"steps", plan.steps()},
               {"batch", plan.batch},
               {"optimizer",
                {{"name", "AdamW"},
                 {"learning_rate", recipe.schedule.peak},
                 {"beta1", recipe.adamw.beta1},
                 {"beta2", recipe.adamw.beta2},
                 {"epsilon", recipe.adamw.epsilon},
                 {"decay", recipe.adamw.decay},
                 {"warmup", recipe.schedule.warmup},
                 {"floor", recipe.schedule.floor},
                 {"clip", recipe.clip}}},
               {"dropout", recipe.objective.dropout},
               {"label_smoothing", recipe.objective.label_smoothing}};
  if (plan.task != Task::causal) {
    Json& fields = json["corruption"] = {{"mask", corruption.mask}, {"swap", corruption.swap}};
    if (plan.task == Task::masked) fields["keep"] = corruption.keep;
    fields["family"] = corruption.family;
    if (plan.task == Task::masked) fields["restore"] = corruption.restore;
  }
  add_teaching(json, plan);
  return json;
}

}  // namespace headlight
