// Errors on their way out of a function, those of the standard library (no memory, no threads) among them.
#pragma once

#include "base/result.h"

namespace headlight {

/// Inside a catch block: the exception in one line.
Error thrown_error();

/// The value of a Result; an error is what the function around it returns. A statement expression, as GCC and clang
/// have it: what is left of the statement is not evaluated.
#define TRY(...)                      \
  __extension__({                     \
    auto tried = __VA_ARGS__;         \
    if (!tried) return tried.error(); \
    *std::move(tried);                \
  })

}  // namespace headlight
