// The view of a training.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

void train_panel(Gui& gui);      // its plan, its curves, the slider over its steps
void training_status(Gui& gui);  // in the status bar: a training that goes on while another view is looked at

}  // namespace headlight
