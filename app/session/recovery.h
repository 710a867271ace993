// What the user typed or set survives a crash: every running window keeps its session in a file of its own, which a
// clean end removes. One whose program is gone was left by a crash.
#pragma once

#include <filesystem>
#include <optional>

namespace headlight {

/// This process's file, in a folder that exists afterwards; empty where no such folder can be made.
std::filesystem::path autosave_path();

/// A session that a crash left behind, the newest if there are several. To be asked before this process keeps its own.
std::optional<std::filesystem::path> crashed_session();

/// After a clean end, or once a session was taken over.
void forget_autosave(const std::filesystem::path& path);

}  // namespace headlight
