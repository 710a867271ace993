#include "text/readable.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>

#include "base/formatted.h"
#include "base/utf8.h"
#include "text/byte_alphabet.h"
#include "text/characters.h"

namespace headlight {
namespace {

constexpr std::string_view kMetaspace = "▁", kOpen = "⟨", kClose = "⟩", kDottedCircle = "◌";

bool is_mark_on_another(UChar32 c) {
  const int kind = u_getIntPropertyValue(c, UCHAR_GRAPHEME_CLUSTER_BREAK);
  return kind == U_GCB_EXTEND || kind == U_GCB_SPACING_MARK;
}

bool is_invisible(UChar32 c) { return u_hasBinaryProperty(c, UCHAR_DEFAULT_IGNORABLE_CODE_POINT); }

int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

/// <0xE6>
bool is_byte_word(std::string_view word) {
  return word.size() == 6 && word.starts_with("<0x") && word[5] == '>' && hex_digit(word[3]) >= 0 &&
         hex_digit(word[4]) >= 0;
}

std::string decoded(std::string_view word) {
  std::string bytes;
  for (const char32_t letter : code_points(word)) {
    const auto byte = byte_of_letter(letter);
    if (!byte) return std::string(word);  // an added token, spelt as it is
    bytes += static_cast<char>(*byte);
  }
  return bytes;
}

}  // namespace

std::string bytes_of_word(const WordSpelling& spelling, std::string_view word) {
  if (spelling.byte_words && is_byte_word(word))
    return std::string(1, static_cast<char>(hex_digit(word[3]) * 16 + hex_digit(word[4])));
  if (!spelling.prefix.empty() && word.size() > spelling.prefix.size() && word.starts_with(spelling.prefix))
    word.remove_prefix(spelling.prefix.size());
  if (!spelling.suffix.empty() && word.size() > spelling.suffix.size() && word.ends_with(spelling.suffix))
    word.remove_suffix(spelling.suffix.size());
  if (spelling.byte_level) return decoded(word);
  std::string bytes(word);
  if (spelling.metaspace)
    for (std::size_t at = 0; (at = bytes.find(kMetaspace, at)) != std::string::npos; ++at)
      bytes.replace(at, kMetaspace.size(), " ");
  return bytes;
}

std::string visible(std::string_view bytes) {
  std::string text;
  bool open = false;  // in a bracket of bytes
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const auto size = static_cast<std::int32_t>(bytes.size());
  for (std::int32_t at = 0; at < size;) {
    const std::int32_t start = at;
    UChar32 c;
    U8_NEXT(data, at, size, c);
    if (c < 0) {
      for (std::int32_t i = start; i < at; ++i) {
        text.append(open ? " " : kOpen).append(formatted("%02X", static_cast<unsigned>(data[i])));
        open = true;
      }
      continue;
    }
    if (open) text += kClose;
    open = false;
    if (is_invisible(c)) {
      text.append(kOpen).append(formatted("U+%04X", static_cast<unsigned>(c))).append(kClose);
      continue;
    }
    if (start == 0 && is_mark_on_another(c)) text += kDottedCircle;
    append_utf8(text, static_cast<char32_t>(c));
  }
  if (open) text += kClose;
  return text;
}

std::string quoted_word(std::string_view word) {
  constexpr std::size_t kMost = 60;
  std::size_t size = std::min(word.size(), kMost);
  while (size > 0 && size < word.size() && (word[size] & 0xC0) == 0x80) --size;
  std::string text = "'";
  for (const char c : visible(word.substr(0, size))) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F) text += c;
    else text.append(kOpen).append(formatted("%02X", static_cast<unsigned>(byte))).append(kClose);
  }
  return text + (size < word.size() ? "…'" : "'");
}

std::string_view without_leading_space(std::string_view text) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto size = static_cast<std::int32_t>(text.size());
  for (std::int32_t at = 0; at < size;) {
    const std::int32_t start = at;
    UChar32 c;
    U8_NEXT_OR_FFFD(data, at, size, c);
    if (!is_white_space(static_cast<char32_t>(c))) return text.substr(static_cast<std::size_t>(start));
  }
  return text;
}

}  // namespace headlight
