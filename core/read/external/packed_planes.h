// float16 numbers packed as a page has them: their low bytes, then their high bytes, deflated.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace headlight {

/// All low bytes, then all high bytes, deflated (RFC 1951): the high bytes of q and k are alike.
std::string packed_planes(std::string_view bytes);
/// Takes that back. An Error where the bytes are damaged or come to another number than `expected`.
Result<std::string> unpacked_planes(std::string_view packed, std::size_t expected);

}  // namespace headlight
