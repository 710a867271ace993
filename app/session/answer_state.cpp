#include "session/answer_state.h"

namespace headlight {

AnswerState answer_state(const AppState& state) {
  using Kind = AnswerState::Kind;
  if (const auto& failure = state.open_failure)
    return {Kind::cannot_open, failure->path, failure->message, failure->details};
  if (nothing_asked(state)) return {Kind::empty};
  const std::string& problem = problem_of(state);
  // A fresh model has no path and no name that the maps could stand under wrongly.
  const bool of_another =
      state.trace && !state.document.model_path.empty() && state.trace->request.model != state.document.model;
  if (!problem.empty() && (!state.trace || of_another))
    return {Kind::cannot_ask, state.document.model_path, problem, state.shows_problem};
  return {state.trace ? Kind::shown : Kind::computing};
}

bool has_one_word(const AppState& state) {
  return state.trace && !is_stale(state) && state.trace->queries(state.view.chosen.stack) == 1 &&
         state.trace->keys(state.view.chosen.stack) == 1;
}

}  // namespace headlight
