// What a fuzz target demands of every answer: a process that ends here has found a fault.
#pragma once

#include <cstdlib>
#include <string>

namespace headlight {

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// A message of one line.
inline void require_line(const std::string& message) {
  require(!message.empty() && message.find('\n') == std::string::npos);
}

}  // namespace headlight
