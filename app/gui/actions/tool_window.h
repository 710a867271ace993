// What a tool adds to the window: rows of the table of actions, the panel of its view, parts of the viewer's panels.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gui/actions/actions.h"
#include "tool/tool.h"

namespace headlight {

/// A row of the table of actions.
struct ToolAction {
  std::string_view called;  // as texts name it: "run_training"
  Act before;               // the row of the viewer before which it stands
  Action row;               // its id is given when the table is made
};

/// A path that a tool kept, in the dialog for opening.
struct KeptPath {
  std::string name, what, path;
};

struct ToolWindow {
  std::span<const ToolAction> actions = {};
  void (*view)(Gui& gui) = nullptr;    // the panel of ToolState::view, beside the atlas
  void (*status)(Gui& gui) = nullptr;  // at the left of the status bar
  void (*learn)(Gui& gui) = nullptr;   // beside the line that says that a model learned nothing
  std::vector<KeptPath> (*kept)(const Gui& gui) = nullptr;
  Command (*train_on)(const std::string& path) = nullptr;  // of Browser::Purpose::corpus
};

/// What the first tool that has it gives; null where none has.
template <class Given>
Given of_tools(Given ToolWindow::*place) {
  return of_tools(&Tool::window, place);
}

}  // namespace headlight
