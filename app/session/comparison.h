// Two answers beside each other: A that was kept, and B that is on the screen.
#pragma once

#include <memory>

#include "model/trace.h"

namespace headlight {

/// What of two answers is the same, and how they differ.
struct Comparison {
  std::weak_ptr<const Trace> a, b;
};

}  // namespace headlight
