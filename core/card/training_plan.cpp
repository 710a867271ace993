#include "card/training_plan.h"

#include <algorithm>

#include "base/names.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

constexpr std::string_view kTaskNames[] = {"masked", "causal", "translation"};

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

std::string_view name(Task task) { return name_in(kTaskNames, task); }

Task task_of(Arch arch) {
  if (arch == Arch::decoder) return Task::causal;
  return arch == Arch::encoder_decoder ? Task::translation : Task::masked;
}

std::optional<std::size_t> taught_head(const std::vector<TaughtHead>& heads, std::string_view relation) {
  for (const std::string_view wanted : {relation, relation.substr(0, relation.find(':'))})
    for (std::size_t i = 0; i < heads.size(); ++i)
      if (std::find(heads[i].relations.begin(), heads[i].relations.end(), wanted) != heads[i].relations.end()) return i;
  return std::nullopt;
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
  if (plan.task != Task::causal) {
    const JsonField corruption = field.at("corruption");
    plan.corruption.mask = corruption.number("mask"), plan.corruption.swap = corruption.number("swap");
    if (plan.task == Task::masked) plan.corruption.keep = corruption.number("keep");
    plan.corruption.family = corruption.number("family");
    if (plan.task == Task::masked) plan.corruption.restore = corruption.number("restore");
  }
  if (field.has("teaching")) read_teaching(field.at("teaching"), plan);
  return plan;
}

}  // namespace headlight
