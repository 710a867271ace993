// Where a test lets the system refuse a call at a chosen moment, so that what must bear a refusal is shown to bear it.
#pragma once

#include <atomic>
#include <cerrno>

namespace headlight {

enum class SystemCall { write, sync, rename, map, thread };

/// Asked before each such call: 0, or the error number (errno) with which the call is to fail. May be asked by several
/// threads at a time. Null, as in the program: no call is refused.
inline std::atomic<int (*)(SystemCall)> refusal = nullptr;

/// Whether a test refuses the call; errno then holds the reason.
inline bool is_refused(SystemCall call) {
  const auto asked = refusal.load(std::memory_order_relaxed);
  const int error = asked ? asked(call) : 0;
  if (error != 0) errno = error;
  return error != 0;
}

}  // namespace headlight
