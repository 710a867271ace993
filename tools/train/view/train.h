// The view of a training, and the parts of its panel.
#pragma once

#include "gui/actions/tool_window.h"
#include "train/run/trainings.h"

namespace headlight {

extern const ToolWindow kTrainWindow;

void train_panel(Gui& gui);      // its plan, its curves, the slider over its steps
void training_status(Gui& gui);  // in the status bar: a training that goes on while another view is looked at

/// The controls of the next training: its plan, its corpus, and the button that starts it.
void training_form(Gui& gui);

/// How the loss fell and the heads' scores rose, and the slider over the steps; about as high as `height`.
void training_curves(Gui& gui, const TrainingRun& run, float height);

/// Starts a training of the document's shape: by the plan of the panel, or by the usual one.
void push_start(Gui& gui, bool usual);

/// A time in words: "40 s", "2 min 10 s".
std::string duration_words(const Gui& gui, double seconds);

}  // namespace headlight
