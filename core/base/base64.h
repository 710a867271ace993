// Base64 (RFC 4648, section 4): bytes as text, in tokenizer.json and in pages.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headlight {

/// The bytes; nothing where the text has other characters, or its padding is wrong.
std::optional<std::string> decode_base64(std::string_view text);

/// How many characters `bytes` bytes take.
inline constexpr std::size_t base64_size(std::size_t bytes) { return (bytes + 2) / 3 * 4; }

/// Bytes that come in parts, as one text.
class Base64Encoder {
 public:
  /// Appends the characters of these bytes, up to two of which wait for the next part.
  void add(std::string_view bytes, std::string& text);
  /// Appends what is left, padded.
  void finish(std::string& text);

 private:
  std::string held_;  // fewer than three bytes
};

std::string encode_base64(std::string_view bytes);

}  // namespace headlight
