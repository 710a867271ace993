#include "base/printable.h"

#include <algorithm>

#include "base/utf8.h"

namespace headlight {

std::string printable(std::string_view name) {
  constexpr std::size_t kMost = 80;
  std::size_t size = std::min(name.size(), kMost);
  // Not through the middle of a character: back over its continuation bytes.
  while (size > 0 && size < name.size() && (name[size] & 0xC0) == 0x80) --size;
  std::string text{name.substr(0, size)};
  const bool broken = first_invalid_utf8(text).has_value();
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || (broken && byte >= 0x80)) c = '?';
  }
  return name.size() > kMost ? text + "…" : text;
}

}  // namespace headlight
