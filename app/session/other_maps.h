// Maps of the heads that show something else than the attention weights: how long the vectors are that they bring, or
// what they come to through all layers below.
#pragma once

#include <memory>

#include "model/trace.h"
#include "session/view_state.h"

namespace headlight {

/// The maps of one kind, of an answer.
struct OtherMaps {
  std::weak_ptr<const Trace> trace;
  MapKind kind = MapKind::norms;
};

}  // namespace headlight
