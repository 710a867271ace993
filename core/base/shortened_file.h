// Files that were shortened while they were mapped: to be asked when all that is wanted of a file was read.
#pragma once

#include <string_view>

#include "base/result.h"

namespace headlight {

/// Whether the file of this MappedFile was shortened, and bytes that are gone were read as zeros. False for any other
/// object.
bool was_shortened(const void* mapped_file);

/// Whether any file that is mapped now was.
bool any_was_shortened();

/// The Error of a file that was shortened while it was read.
Error shortened(std::string_view where);

}  // namespace headlight
