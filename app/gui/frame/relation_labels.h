// What was measured of a head, as the window writes it.
#pragma once

#include "figure/labels.h"
#include "gui/frame/gui.h"

namespace headlight {

/// The title of a head, a value of it and what was measured of it (figure/labels.h), at the current font.
MeasuredTitle measured_title(Gui& gui, const HeadRef& head, float room, const std::string& value = {});
/// The scores of the head side by side, as many as fit into `room`, each with a tooltip that has its baselines; draws nothing
/// where there are none.
void measured_line(Gui& gui, const HeadRef& head, float room);

}  // namespace headlight
