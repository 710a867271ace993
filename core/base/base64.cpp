#include "base/base64.h"

#include <cstdint>

namespace headlight {
namespace {

int digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void append_group(std::string_view three, std::string& text) {
  std::uint32_t bits = 0;
  for (const char c : three) bits = bits << 8 | static_cast<unsigned char>(c);
  for (int shift = 18; shift >= 0; shift -= 6) text += kDigits[bits >> shift & 63];
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  text.remove_suffix(padding);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int held = 0;  // bits not yet written
  for (const char c : text) {
    const int value = digit(c);
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xFF);
  }
  if ((bits & ((1u << held) - 1)) != 0) return std::nullopt;  // the padding bits are not 0
  return bytes;
}

void Base64Encoder::add(std::string_view bytes, std::string& text) {
  held_.append(bytes);
  text.reserve(text.size() + base64_size(held_.size()));
  std::string_view rest = held_;
  for (; rest.size() >= 3; rest.remove_prefix(3)) append_group(rest.substr(0, 3), text);
  held_.erase(0, held_.size() - rest.size());
}

void Base64Encoder::finish(std::string& text) {
  if (held_.empty()) return;
  const std::size_t missing = 3 - held_.size();
  held_.append(missing, '\0');
  append_group(held_, text);
  text.replace(text.size() - missing, missing, missing, '=');
  held_.clear();
}

std::string encode_base64(std::string_view bytes) {
  std::string text;
  Base64Encoder encoder;
  encoder.add(bytes, text);
  encoder.finish(text);
  return text;
}

}  // namespace headlight
