#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// The difference between two questions, in a few words: "L1·H2 off", "heads 4 → 8". Of several changes the first.
std::string change_in_words(const Gui& gui, const Document& before, const Document& now);

}  // namespace headlight
