// Numbers as the formats of files store them: their lowest byte first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headlight {

/// The number in `count` bytes from `offset`, at most 8; bytes behind the end are zero.
inline std::uint64_t little_endian(std::string_view bytes, std::size_t offset, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count && offset + i < bytes.size(); ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[offset + i])} << (8 * i);
  return value;
}

}  // namespace headlight
