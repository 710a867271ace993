// The goal of a lesson's step, as a condition that the program can check.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "model/trace.h"

namespace headlight {

struct Document;   // document/document.h
struct ViewState;  // view/view_state.h
struct Scene;      // lesson/lesson.h

/// The facts that goals check.
struct GoalFacts {
  const Document& document;
  const ViewState& view;
  const Trace* trace = nullptr;             // the answer to what is asked now; null while there is none
  std::optional<Index> trained_steps = {};  // of the training whose model answers; nothing where none does
  std::optional<Index> shown_step = {};     // the step of it that is looked at, where that is not the newest
};

/// One property of what is asked and looked at. What there are, and what each takes, is a table in lesson_goal.cpp.
struct Goal {
  std::size_t kind = 0;            // its place in the table
  std::vector<std::string> words;  // of a kind that takes words: any one of them will do
  double number = 0;               // of a kind that takes a number
};

/// {"mask": "causal", "heads_at_most": 1, …}. Errors name the property, and what it takes.
Result<std::vector<Goal>> goals_from_json(const std::string& where, const nlohmann::json& object);

/// Whether it is so now. `scene` is what the step set, null where it set nothing.
bool is_reached(const Goal& goal, const GoalFacts& facts, const Scene* scene);

}  // namespace headlight
