// The loop of a training by its plan, and the plan as JSON: a part of training.json.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "model/config_fields.h"
#include "train/corpus/corpus.h"
#include "train/network/training.h"

namespace headlight {

/// The plan that the shipped models were made by, for a model of this shape: always pre-norm and gelu.
TrainingPlan default_plan(const Config& config);

/// Sentences of a step (from 1) that teach.
Index taught_sentences(const TrainingPlan& plan, Index step);

/// A training that has not begun. Errors: a shape that cannot be trained.
Result<Training> begin_training(const TrainingPlan& plan, const Corpus& corpus);

/// Steps until `until` (at most the plan's last), calling `after` behind each; `after` returns whether to go on. The
/// same to the bit however often it is interrupted, and with any number of threads.
void train(Training& training, const TrainingPlan& plan, const Corpus& corpus, Workspace& workspace, Index until,
           const std::function<bool(const StepReport&, const Batch&)>& after);

/// The trained model, with its vocabulary and name.
std::shared_ptr<const Model> trained_model(const Training& training, const Corpus& corpus, std::string name);

/// The value of a field of a model's shape, as config.json writes it.
struct ConfigValue {
  const Config& config;

  nlohmann::ordered_json operator()(const SizeField& field) const { return field.used_by(config); }
  nlohmann::ordered_json operator()(const NumberField& field) const { return config.*field.value; }
  template <class Enum>
  nlohmann::ordered_json operator()(const ChoiceField<Enum>& field) const {
    return name(config.*field.value);
  }
  nlohmann::ordered_json operator()(const FlagField& field) const { return config.*field.value; }
  nlohmann::ordered_json operator()(const BiasField& field) const { return (config.*field.value).any(); }
  nlohmann::ordered_json operator()(const SeedField& field) const { return config.*field.value; }
};

nlohmann::ordered_json plan_json(const TrainingPlan& plan);

}  // namespace headlight
