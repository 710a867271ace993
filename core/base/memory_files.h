// Files that a page in a browser put into memory, by their paths. There base/file.h and mapped_file.h read them
// (base/web); other builds have none.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headlight {

/// Takes memory that malloc gave; a file of the same name is replaced.
void put_memory_file(std::string name, char* bytes, std::size_t size);
void drop_memory_file(std::string_view name);
/// The bytes, as long as the file is there.
std::optional<std::string_view> memory_file(std::string_view name);

}  // namespace headlight
