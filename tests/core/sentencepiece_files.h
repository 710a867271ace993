// SentencePiece models for tests, written field by field.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace headlight {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

inline std::string number_field(unsigned number, std::uint64_t value) { return varint(number << 3) + varint(value); }

inline std::string bytes_field(unsigned number, std::string_view bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}

inline std::string piece(std::string_view text, float score, unsigned kind = 1) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &score, 4);
  return bytes_field(1, bytes_field(1, text) + varint(2 << 3 | 5) + bytes + number_field(3, kind));
}

inline std::string trainer(unsigned kind, unsigned unknown, bool byte_fallback = false) {
  return bytes_field(2, number_field(3, kind) + number_field(35, byte_fallback) + number_field(40, unknown));
}

}  // namespace headlight
