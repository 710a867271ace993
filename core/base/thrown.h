// What the standard library throws where the system gives no more (memory, threads), as an Error like any other.
#pragma once

#include "base/result.h"

namespace headlight {

/// Inside a catch block: the exception in one line.
Error thrown_error();

}  // namespace headlight
