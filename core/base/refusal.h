// Calls of the system that are refused: a test makes a chosen one fail, to check that the code behind it handles the
// failure; a program that answers for others has files of some folders alone, and takes what is printed.
#pragma once

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

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

/// Where files may be read and written: folders, and files, as std::filesystem::canonical has them. Standard input is
/// empty there, and what is printed goes to `output` and `messages`.
struct Confines {
  std::vector<std::filesystem::path> readable = {}, writable = {};
  std::size_t most_output = 0;  // bytes; more cannot be written
  std::string output = {};
  std::mutex mutex = {};                            // of what follows
  std::vector<std::string> messages = {};           // lines for standard error
  std::vector<std::filesystem::path> refused = {};  // paths that lie elsewhere, as they were given
};

/// Null, as in most programs: anywhere. It is set before other threads open files.
inline std::atomic<Confines*> confines = nullptr;

/// Whether the path, its symbolic links followed, lies outside of the confines; errno then holds the reason. A link
/// that another program changes between this and the opening of a file is not seen.
bool is_outside(const std::filesystem::path& path, bool writes = false);

}  // namespace headlight
