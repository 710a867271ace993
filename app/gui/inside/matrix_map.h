// Any matrix of an explanation as a map: colours on both sides of zero where it has both, its numbers where they fit.
#pragma once

#include "derived/inside.h"
#include "figure/inside_parts.h"
#include "gui/frame/gui.h"

namespace headlight {

/// Fills `box` with the picture, its outline around it.
void draw_picture(Gui& gui, ImDrawList& list, const Picture& picture, std::uint64_t version, const Box& box,
                  bool is_signed);

}  // namespace headlight
