// How the commands of a training and the answers of its worker change the state. Called by update() alone.
#pragma once

#include "session/state.h"

namespace headlight {

// Commands of the user. A second training is refused while one goes on.
void start_training(AppState& state, StartTraining& command);
void continue_training(AppState& state, ContinueTraining& command);
void pause_training(AppState& state);
void resume_training(AppState& state);
void stop_training(AppState& state);
/// Shows a kept step, or the newest; a document that another model answers first gets the training's model.
void choose_shot(AppState& state, std::optional<Index> step, std::size_t kind);
/// For a kept answer that the current training gave at a step: shows that step again, with its model.
void show_kept_step(AppState& state, Index step, const Document& kept);
/// One step of undo: the training's model answers the document.
void show_training(AppState& state, std::size_t kind);

// Answers of the worker; those of another training than the last are ignored.
/// The document gets the model: one step of undo. What follows until the end is none.
void take(AppState& state, TrainingBegun& begun, std::size_t kind);
void take(AppState& state, TrainingNews& news, std::size_t);
void take(AppState& state, TrainingPaused& paused, std::size_t);
void take(AppState& state, TrainingDone& done, std::size_t);
void take(AppState& state, TrainingFailed& failed, std::size_t);

}  // namespace headlight
