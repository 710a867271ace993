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

float number(const JsonField& field, const char* name) {
  const nlohmann::json& value = field.at(name).value();
  if (value.is_number() && std::isfinite(value.get<float>())) return value.get<float>();
  field.at(name).problem("a number");
  return 0;
}

void read_teaching(const JsonField& field, TrainingPlan& plan) {
  constexpr std::int64_t kMost = 1 << 20;
  plan.recipe.objective.attention = number(field, "weight");
  plan.teaching = {.heads = {},
                   .share = number(field, "share"),
                   .from = number(field, "from"),
                   .grammar = number(field, "grammar"),
                   .rest = number(field, "rest"),
                   .hide = number(field, "hide")};
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
  plan.recipe.adamw = {number(optimizer, "beta1"), number(optimizer, "beta2"), number(optimizer, "epsilon"),
                       number(optimizer, "decay")};
  plan.recipe.schedule = {number(optimizer, "learning_rate"), optimizer.integer("warmup", 0, kMost),
                          field.integer("steps", 0, kMost), number(optimizer, "floor")};
  plan.recipe.clip = number(optimizer, "clip");
  plan.recipe.objective.dropout = number(field, "dropout");
  plan.recipe.objective.label_smoothing = number(field, "label_smoothing");
  if (plan.task == Task::translation) {
    const JsonField corruption = field.at("corruption");
    plan.corruption.mask = number(corruption, "mask");
    plan.corruption.swap = number(corruption, "swap");
    plan.corruption.family = number(corruption, "family");
  } else if (plan.task == Task::masked) {
    const JsonField corruption = field.at("corruption");
    plan.corruption = {number(corruption, "mask"), number(corruption, "swap"), number(corruption, "keep"),
                       number(corruption, "family"), number(corruption, "restore")};
  }
  if (field.has("teaching")) read_teaching(field.at("teaching"), plan);
  return plan;
}

}  // namespace headlight
