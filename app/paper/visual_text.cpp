#include "paper/visual_text.h"

#include <unicode/ubidi.h>
#include <unicode/uscript.h>
#include <unicode/ushape.h>
#include <unicode/ustring.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/utf8.h"

namespace headlight {
namespace {

constexpr UChar kForced = 0x202D;  // left to right, whatever the letters are

bool is_right_to_left(char32_t c) {
  if (c < 0x0590) return false;
  const UCharDirection direction = u_charDirection(static_cast<UChar32>(c));
  return direction == U_RIGHT_TO_LEFT || direction == U_RIGHT_TO_LEFT_ARABIC || direction == U_ARABIC_NUMBER;
}

using Units = std::vector<UChar>;

Units units_of(std::string_view text) {
  Units units(text.size() + 1);
  std::int32_t count = 0;
  UErrorCode error = U_ZERO_ERROR;
  u_strFromUTF8WithSub(units.data(), static_cast<std::int32_t>(units.size()), &count, text.data(),
                       static_cast<std::int32_t>(text.size()), 0xFFFD, nullptr, &error);
  units.resize(static_cast<std::size_t>(std::max(count, 0)));
  return units;
}

/// Letters as they join. ICU makes vowel marks forms of their own width; they stay marks above and below their letters.
Units joined_letters(const Units& text) {
  Units joined(2 * text.size() + 1);
  UErrorCode error = U_ZERO_ERROR;
  const std::int32_t count = u_shapeArabic(
      text.data(), static_cast<std::int32_t>(text.size()), joined.data(), static_cast<std::int32_t>(joined.size()),
      U_SHAPE_LETTERS_SHAPE | U_SHAPE_TEXT_DIRECTION_LOGICAL | U_SHAPE_LENGTH_GROW_SHRINK, &error);
  if (U_FAILURE(error)) return text;
  joined.resize(static_cast<std::size_t>(count));
  for (UChar& c : joined)
    if (c >= 0xFE70 && c <= 0xFE7F) c = static_cast<UChar>(0x064B + (c - 0xFE70) / 2);
  return joined;
}

Units in_visual_order(const Units& line) {
  const bool forced = std::find(line.begin(), line.end(), kForced) != line.end();  // ordered before, letters joined
  const Units joined = forced ? line : joined_letters(line);
  const std::unique_ptr<UBiDi, void (*)(UBiDi*)> order(ubidi_open(), ubidi_close);
  UErrorCode error = U_ZERO_ERROR;
  ubidi_setPara(order.get(), joined.data(), static_cast<std::int32_t>(joined.size()),
                forced ? UBIDI_LTR : UBIDI_DEFAULT_LTR, nullptr, &error);
  Units ordered(joined.size() + 1);
  const std::int32_t count =
      ubidi_writeReordered(order.get(), ordered.data(), static_cast<std::int32_t>(ordered.size()),
                           UBIDI_DO_MIRRORING | UBIDI_REMOVE_BIDI_CONTROLS, &error);
  if (U_FAILURE(error)) return joined;
  ordered.resize(static_cast<std::size_t>(count));
  return ordered;
}

void append_units(std::string& text, const Units& units) {
  std::string bytes(3 * units.size() + 1, '\0');
  std::int32_t count = 0;
  UErrorCode error = U_ZERO_ERROR;
  u_strToUTF8WithSub(bytes.data(), static_cast<std::int32_t>(bytes.size()), &count, units.data(),
                     static_cast<std::int32_t>(units.size()), 0xFFFD, nullptr, &error);
  text.append(bytes, 0, static_cast<std::size_t>(std::max(count, 0)));
}

}  // namespace

std::string unshaped_script(std::string_view text) {
  constexpr UScriptCode kSetByRules[] = {USCRIPT_DEVANAGARI, USCRIPT_BENGALI, USCRIPT_GURMUKHI, USCRIPT_GUJARATI,
                                         USCRIPT_ORIYA,      USCRIPT_TAMIL,   USCRIPT_TELUGU,   USCRIPT_KANNADA,
                                         USCRIPT_MALAYALAM,  USCRIPT_SINHALA, USCRIPT_TIBETAN,  USCRIPT_MYANMAR,
                                         USCRIPT_KHMER};
  for (const char32_t c : code_points(text)) {
    if (c < 0x0900) continue;
    UErrorCode error = U_ZERO_ERROR;
    const UScriptCode script = uscript_getScript(static_cast<UChar32>(c), &error);
    if (std::ranges::find(kSetByRules, script) != std::end(kSetByRules)) return uscript_getName(script);
  }
  return {};
}

std::string visual_text(std::string_view text) {
  // The first such letter, U+0590, begins with the byte D6.
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0xD6; })) return std::string(text);
  constexpr std::size_t kMost = std::size_t{1} << 24;  // bytes, far more than is ever drawn
  const std::vector<char32_t> points = code_points(text);
  if (text.size() > kMost || std::ranges::none_of(points, is_right_to_left)) return std::string(text);
  std::string visual = "\u202D";
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    append_units(visual, in_visual_order(units_of(text.substr(begin, end - begin))));
    if (end < text.size()) visual += '\n';
    begin = end + 1;
  }
  return visual + "\u202C";
}

}  // namespace headlight
