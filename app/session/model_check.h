// What was found about the checkpoints that were loaded, by a tool that can check them.
#pragma once

#include <memory>
#include <vector>

#include "model/finding.h"
#include "session/state.h"

namespace headlight {

struct ModelCheck {
  std::weak_ptr<const Model> model;
  std::vector<Finding> findings;
};

/// What was found about the document's checkpoint; null where it is none, or not known yet.
const std::vector<Finding>* findings_of_model(const AppState& state);

}  // namespace headlight
