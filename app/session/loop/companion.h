// What a tool does beside the answers, on a worker, for as long as a window is open. What it does follows from the
// state; its messages come back as commands.
#pragma once

#include <vector>

#include "session/command.h"

namespace headlight {

class Companion {
 public:
  virtual ~Companion() = default;
  /// Begins, goes on or stops as the state has it.
  virtual void follow(const AppState& state) = 0;
  /// Its messages since the last call, in order.
  virtual std::vector<Command> take() = 0;
  /// Blocks until it stands still.
  virtual void wait() const = 0;
  /// Whether it works, or its last message was not taken yet.
  virtual bool busy() const = 0;
};

}  // namespace headlight
