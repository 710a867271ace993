// The keyboard's way through the window: Tab goes from control to control in the order in which they are drawn, which
// is that of reading; a ring shows the current one. Dear ImGui 1.86 tabs between text fields alone.
#pragma once

#include <string>

#include "gui/frame/gui.h"

namespace headlight {

/// A control that Tab reaches, as one frame drew it.
struct FocusStop {
  ControlFocus control;
  BoxKind kind = BoxKind::button;
  const void* window = nullptr;  // of Dear ImGui, the outermost one that the control is in
};

/// Adds the last item to the stops of Tab, with the ring where it has the keyboard. `item`: its number, where the last
/// item has none; 0: it has one.
void add_focus_stop(Gui& gui, const std::string& name, const Box& box, BoxKind kind, std::uint32_t item);

/// After everything was drawn: Tab and Shift Tab move the ring, Enter and Space press what is in it, Escape removes it.
/// True where a key did one of them. The ring does not leave an open menu or dialog.
bool walk_focus(Gui& gui);

/// The steps by which ← and → move the slider that was drawn last, where that has the keyboard; a step of undo ends
/// when the key is released.
int focus_steps(Gui& gui);

}  // namespace headlight
