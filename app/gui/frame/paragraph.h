// Text of several lines at the current font.
#pragma once

#include <string>
#include <vector>

#include "gui/frame/gui.h"

namespace headlight {

/// A text broken into lines, ready to be drawn.
struct Paragraph {
  std::vector<std::string> lines;
  float height = 0;
};

Paragraph paragraph(Gui& gui, const std::string& text, float room);
void draw_paragraph(Gui& gui, const Paragraph& set, ImVec2 at, ImU32 colour, const char* name, float width);

}  // namespace headlight
