// Characters that Dear ImGui drops or mangles in a text it edits, and the characters that stand for them inside it:
// those above U+FFFF where its characters have 16 bits, private-use ones (it takes them for function keys when typed),
// control characters and noncharacters.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headlight {

/// A table that grows with the text that passes. Stand-ins are taken from a block of scripts that are rare beside
/// Chinese and English (Yi, Lisu, Vai: U+A000 … U+A63F); its characters get stand-ins too, so none is ambiguous.
class GlyphSubstitutes {
 public:
  static constexpr char32_t kFirst = 0xA000, kLast = 0xA63F;

  /// Appends to `text` the character itself, or what stands for it.
  void put(std::string& text, char32_t character);
  /// The text with the characters that were stood in for. What is left of a stand-in of several characters that was cut
  /// apart becomes U+FFFD.
  std::string restored(std::string_view text) const;
  /// Whether this is (part of) a stand-in.
  static bool is_one(char32_t c) { return c >= kFirst && c <= kLast; }
  /// The character behind a stand-in of one character.
  std::optional<char32_t> behind(char32_t stand_in) const;
  /// Whether a part of a longer stand-in takes no room on the screen, its first part having shown the character.
  static bool is_silent(char32_t c);

 private:
  std::vector<char32_t> characters_;  // by slot
  std::unordered_map<char32_t, std::size_t> slots_;
};

}  // namespace headlight
