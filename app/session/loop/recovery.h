// The user's changes survive a crash and an end without saving: every running window keeps its session in a
// separate file, its autosave. A window that ends with nothing unsaved removes it; any other autosave is taken over
// by a later window.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "base/file_lock.h"
#include "session/file/session_file.h"

namespace headlight {

/// A change is on disk at most this many seconds after it was made …
inline constexpr double kAutosaveAfter = 0.5;
/// … and where it could not be written (a full disk), it is tried again after so many.
inline constexpr double kAutosaveRetry = 5;

/// A file of this process that is not there yet, in a folder that exists afterwards; empty where no such folder can be
/// made. Temporary files of programs that were killed while they wrote there are removed.
std::filesystem::path autosave_path();

/// Marks the window of this autosave as running, as long as the lock lives; nothing where the lock cannot be made.
std::optional<FileLock> lock_autosave(const std::filesystem::path& path);

/// The autosaves of windows that are gone, the newest first. To be called before this process writes its autosave.
std::vector<std::filesystem::path> left_sessions();

struct Recovered {
  std::optional<Session> session = {};
  std::vector<Error> problems = {};  // a line for each newer autosave that could not be read
};
/// Takes over the newest of left_sessions() that can be read: its file becomes `autosave`. One that cannot be read is
/// renamed, so that it hides no older one, and its line contains the new path.
Recovered recover_session(const std::filesystem::path& autosave);

/// Removes an autosave and its lock's file.
void forget_autosave(const std::filesystem::path& path);

/// Whether a file of this program was written by a newer version of it, and is to be left as it is: a JSON object whose
/// `schema` is `name`, a slash and a number above `version`.
bool is_of_newer_version(const std::filesystem::path& path, std::string_view name, int version);

}  // namespace headlight
