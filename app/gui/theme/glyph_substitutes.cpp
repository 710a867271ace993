#include "gui/theme/glyph_substitutes.h"

#include <imgui.h>

#include "base/utf8.h"

namespace headlight {
namespace {

// One slot a character while slots last; after that three digits in base 104, as 104³ is more than all of Unicode.
constexpr char32_t kBase = 104;
constexpr char32_t kHigh = GlyphSubstitutes::kLast + 1 - 3 * kBase, kMiddle = kHigh + kBase, kLow = kMiddle + kBase;
constexpr std::size_t kSlots = kHigh - GlyphSubstitutes::kFirst;
static_assert(kBase * kBase * kBase > 0x10FFFF);

bool needs_stand_in(char32_t c) {
  if (c < 0x20) return c != '\t' && c != '\n' && c != '\r';
  if (c == 0x7F || GlyphSubstitutes::is_one(c)) return true;
  if (c >= 0xE000 && c <= 0xF8FF) return true;
  if (c == 0xFFFE || c == 0xFFFF) return true;
  return sizeof(ImWchar) == 2 && c > 0xFFFF;
}

}  // namespace

void GlyphSubstitutes::put(std::string& text, char32_t character) {
  if (!needs_stand_in(character)) return append_utf8(text, character);
  auto found = slots_.find(character);
  if (found == slots_.end() && characters_.size() < kSlots) {
    found = slots_.emplace(character, characters_.size()).first;
    characters_.push_back(character);
  }
  if (found != slots_.end()) return append_utf8(text, kFirst + static_cast<char32_t>(found->second));
  append_utf8(text, kHigh + character / (kBase * kBase));
  append_utf8(text, kMiddle + character / kBase % kBase);
  append_utf8(text, kLow + character % kBase);
}

std::string GlyphSubstitutes::restored(std::string_view text) const {
  std::string result;
  const auto points = code_points(text);
  const auto digit = [&](std::size_t at, char32_t first) -> std::optional<char32_t> {
    if (at >= points.size() || points[at] < first || points[at] >= first + kBase) return std::nullopt;
    return points[at] - first;
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    const char32_t c = points[i];
    if (const auto high = digit(i, kHigh)) {
      const auto middle = digit(i + 1, kMiddle), low = digit(i + 2, kLow);
      append_utf8(result, middle && low ? (*high * kBase + *middle) * kBase + *low : 0xFFFD);
      if (middle && low) i += 2;
    } else if (is_silent(c)) {
      append_utf8(result, 0xFFFD);
    } else {
      append_utf8(result, is_one(c) ? behind(c).value_or(c) : c);
    }
  }
  return result;
}

std::optional<char32_t> GlyphSubstitutes::behind(char32_t stand_in) const {
  const std::size_t slot = stand_in - kFirst;
  if (!is_one(stand_in) || slot >= characters_.size()) return std::nullopt;
  return characters_[slot];
}

bool GlyphSubstitutes::is_silent(char32_t c) { return c >= kMiddle && c <= kLast; }

}  // namespace headlight
