// A test makes a chosen system call fail here, to check that the code behind the call handles the failure.
#pragma once

#include <atomic>
#include <cerrno>

namespace headlight {

enum class SystemCall { write, sync, rename, map, thread };

/// Called before each such call: returns 0, or the error number (errno) with which the call is to fail. Several threads
/// may call it at a time. Null, as in the program: no call is refused.
inline std::atomic<int (*)(SystemCall)> refusal = nullptr;

/// Whether a test refuses the call; errno then holds the reason.
inline bool is_refused(SystemCall call) {
  const auto asked = refusal.load(std::memory_order_relaxed);
  const int error = asked ? asked(call) : 0;
  if (error != 0) errno = error;
  return error != 0;
}

}  // namespace headlight
