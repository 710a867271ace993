// Work in a process of its own, which can be ended at any time, and whose faults end nothing else.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace headlight {

/// What `work` returned there. No result: it was ended, because `goes_on`, which is asked ten times a second, said no.
/// `failed`: it ended by itself before it returned. On Windows, where no process goes on as two, it is done here.
struct OwnProcess {
  std::optional<std::string> result = {};
  bool failed = false;
};
OwnProcess in_own_process(const std::function<std::string()>& work, const std::function<bool()>& goes_on);

}  // namespace headlight
