// A training's plan as JSON: a part of training.json.
#pragma once

#include <nlohmann/json.hpp>

#include "model/config_fields.h"
#include "read/json/json_fields.h"
#include "train/plan.h"

namespace headlight {

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

/// Errors go to the field's problems.
TrainingPlan plan_from(const JsonField& field);

}  // namespace headlight
