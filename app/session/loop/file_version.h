// Files of this program that a newer version of it wrote: they are left as they are.
#pragma once

#include <filesystem>
#include <string_view>

namespace headlight {

/// Whether the file is a JSON object whose `schema` is `name`, a slash and a number above `version`.
bool is_of_newer_version(const std::filesystem::path& path, std::string_view name, int version);

}  // namespace headlight
