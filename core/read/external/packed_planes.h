// float16 numbers packed as a page has them: their low bytes, then their high bytes, deflated.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace headlight {

/// `numbers`: of bytes that are alike rather than the same. `checked`: in the frame of RFC 1950, with a checksum.
enum class Packing { plain, numbers, checked };

/// Deflated bytes (RFC 1951); `level` as zlib counts.
std::string deflated(std::string_view bytes, int level = 6, Packing packing = Packing::plain);
/// All low bytes, then all high bytes, deflated (RFC 1951): the high bytes of q and k are alike.
std::string packed_planes(std::string_view bytes);
/// Deflated bytes, whole. An Error where they are damaged or come to another number than `expected`.
Result<std::string> inflated(std::string_view packed, std::size_t expected);

}  // namespace headlight
