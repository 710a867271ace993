// What was probably meant by a name that is not there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace headlight {

/// The least number of letters to insert, delete or replace (Levenshtein 1966). Letters are bytes.
std::size_t letters_apart(std::string_view a, std::string_view b);

/// The first of the nearest among these names. Empty where each differs in more than a third of the letters of `asked`
/// (at least two letters, at most all but one), and where `asked` has more than 255 bytes.
std::string nearest_name(std::span<const std::string> names, std::string_view asked);

/// The path of an existing file or folder, each missing part replaced by the nearest entry of its folder. Empty where a
/// part has none. Only 10,000 entries of a folder are compared, hidden ones are not.
std::filesystem::path nearest_path(const std::filesystem::path& asked);

/// " (the nearest: PATH)", the end of a message about a path that does not exist; empty where it exists, or none is
/// near.
std::string nearest_hint(const std::filesystem::path& path);

/// What a file is that other programs keep models in, by its ending or as a pointer of Git LFS in its place, and what
/// makes of it one that is read; else empty.
std::string foreign_format(const std::filesystem::path& path);

/// For a message about a path where a file of a known kind was expected: its foreign format, "another file",
/// "no such file", or "no such file (the nearest: PATH)".
std::string found_at(const std::filesystem::path& path);

}  // namespace headlight
