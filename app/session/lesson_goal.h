// What a reader of a lesson was asked to bring about, as something that the program can see by itself.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace headlight {

struct AppState;
struct Scene;

/// One property of the state. What there are, and what each takes, is a table in lesson_goal.cpp.
struct Goal {
  std::size_t kind = 0;            // its place in the table
  std::vector<std::string> words;  // of a kind that takes words: any one of them will do
  double number = 0;               // of a kind that takes a number
};

/// {"mask": "causal", "heads_at_most": 1, …}. Errors name the property, and what it takes.
Result<std::vector<Goal>> goals_from_json(const std::string& where, const nlohmann::json& object);

/// Whether the state has it now. `scene` is what the step set, null where it set nothing.
bool is_reached(const Goal& goal, const AppState& state, const Scene* scene);

/// The names of all properties, in the order of the table.
std::vector<std::string> goal_names();

}  // namespace headlight
