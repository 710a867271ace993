#include "train/plan_json.h"

namespace headlight {
namespace {

using Json = nlohmann::ordered_json;

/// Only of a plan that teaches, so that others are spelt as ever.
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

void read_teaching(const JsonField& field, TrainingPlan& plan) {
  constexpr std::int64_t kMost = 1 << 20;
  plan.recipe.objective.attention = field.number("weight");
  plan.teaching = {.heads = {},
                   .share = field.number("share"),
                   .from = field.number("from"),
                   .grammar = field.number("grammar"),
                   .rest = field.number("rest"),
                   .hide = field.number("hide")};
  for (const JsonField& item : field.at("heads").items()) {
    TaughtHead head{.layer = item.integer("layer", 0, kMost), .head = item.integer("head", 0, kMost)};
    for (const JsonField& relation : item.at("relations").items()) head.relations.push_back(relation.text());
    plan.teaching.heads.push_back(std::move(head));
  }
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
  if (plan.task == Task::translation) {
    json["corruption"] = {{"mask", corruption.mask}, {"swap", corruption.swap}, {"family", corruption.family}};
  } else if (plan.task == Task::masked) {
    json["corruption"] = {{"mask", corruption.mask},
                          {"swap", corruption.swap},
                          {"keep", corruption.keep},
                          {"family", corruption.family},
                          {"restore", corruption.restore}};
  }
  add_teaching(json, plan);
  return json;
}

TrainingPlan plan_from(const JsonField& field) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  TrainingPlan plan;
  const std::string task = field.text("task");
  for (const Task one : {Task::masked, Task::causal, Task::translation})
    if (task == name(one)) plan.task = one;
  plan.config.seed = static_cast<std::uint64_t>(field.integer("seed", 0, kMost));
  plan.batch = field.integer("batch", 1, kMost);
  const JsonField optimizer = field.at("optimizer");
  plan.recipe.adamw = {optimizer.number("beta1"), optimizer.number("beta2"), optimizer.number("epsilon"),
                       optimizer.number("decay")};
  plan.recipe.schedule = {optimizer.number("learning_rate"), optimizer.integer("warmup", 0, kMost),
                          field.integer("steps", 0, kMost), optimizer.number("floor")};
  plan.recipe.clip = optimizer.number("clip");
  plan.recipe.objective.dropout = field.number("dropout");
  plan.recipe.objective.label_smoothing = field.number("label_smoothing");
  if (plan.task == Task::translation) {
    const JsonField corruption = field.at("corruption");
    plan.corruption.mask = corruption.number("mask");
    plan.corruption.swap = corruption.number("swap");
    plan.corruption.family = corruption.number("family");
  } else if (plan.task == Task::masked) {
    const JsonField corruption = field.at("corruption");
    plan.corruption = {corruption.number("mask"), corruption.number("swap"), corruption.number("keep"),
                       corruption.number("family"), corruption.number("restore")};
  }
  if (field.has("teaching")) read_teaching(field.at("teaching"), plan);
  return plan;
}

}  // namespace headlight
