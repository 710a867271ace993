// Exceptions of the standard library (no memory, no threads), as an Error like any other.
#pragma once

#include "base/result.h"

namespace headlight {

/// Inside a catch block: the exception in one line.
Error thrown_error();

}  // namespace headlight
