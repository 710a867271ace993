// Base64 (RFC 4648, section 4), as tokenizer.json wraps bytes in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headlight {

/// The bytes; nothing where the text has other characters, or its padding is wrong.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace headlight
