#include "text/characters.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>
#include <algorithm>
#include <array>

#include "base/formatted.h"
#include "base/utf8.h"

namespace headlight {
namespace {

/// General categories as a set of bits, at a time when Unicode had reached `version` (90: 9.0).
struct Category {
  std::uint32_t mask;
  int version;
};

constexpr int kCategoriesVersion = 80, kMarksVersion = 90;

int age(char32_t c) {
  UVersionInfo version;
  u_charAge(static_cast<UChar32>(c), version);
  return version[0] * 10 + version[1];
}

/// The general category has been changed for a few characters since.
std::uint32_t former_category(char32_t c) {
  switch (c) {
    case 0x166D: return U_GC_PO_MASK;  // now So
    case 0x1734: return U_GC_MN_MASK;  // now Mc
    case 0x1885:
    case 0x1886: return U_GC_LO_MASK;  // now Mn
    case 0x1CF2:
    case 0x1CF3: return U_GC_MC_MASK;   // now Lo
    case 0xA9BD: return U_GC_MC_MASK;   // now Mn
    case 0x111C9: return U_GC_PO_MASK;  // now Mn
    default: return U_GET_GC_MASK(static_cast<UChar32>(c));
  }
}

bool belongs(char32_t c, Category category) {
  return (former_category(c) & category.mask) != 0 && age(c) <= category.version;
}

bool has(char32_t c, UProperty property) { return u_hasBinaryProperty(static_cast<UChar32>(c), property); }

}  // namespace

bool is_white_space(char32_t c) { return has(c, UCHAR_WHITE_SPACE); }

bool is_numeric(char32_t c) { return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_N_MASK) != 0; }

bool is_word_character(char32_t c) {
  constexpr std::uint32_t kMask = U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK;
  return has(c, UCHAR_ALPHABETIC) || (U_GET_GC_MASK(static_cast<UChar32>(c)) & kMask) != 0 || c == 0x200C ||
         c == 0x200D;
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) return c > 0x20 && c < 0x7F && !has(c, UCHAR_POSIX_ALNUM);
  return belongs(c, {U_GC_P_MASK, kCategoriesVersion});
}

bool is_nonspacing_mark(char32_t c) { return belongs(c, {U_GC_MN_MASK, kCategoriesVersion}); }

bool is_mark(char32_t c) { return belongs(c, {U_GC_M_MASK, kMarksVersion}); }

bool is_control(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  return belongs(c, {U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK, kCategoriesVersion});
}

bool is_chinese_character(char32_t c) {
  struct Block {
    char32_t first, last;
  };
  static constexpr std::array kBlocks{Block{0x4E00, 0x9FFF},   Block{0x3400, 0x4DBF},   Block{0x20000, 0x2A6DF},
                                      Block{0x2A700, 0x2B73F}, Block{0x2B740, 0x2B81F}, Block{0x2B920, 0x2CEAF},
                                      Block{0xF900, 0xFAFF},   Block{0x2F800, 0x2FA1F}};
  return std::any_of(kBlocks.begin(), kBlocks.end(), [c](Block block) { return c >= block.first && c <= block.last; });
}

bool has_chinese(std::string_view text) {
  const std::vector<char32_t> characters = code_points(text);
  return std::any_of(characters.begin(), characters.end(), is_chinese_character);
}

std::u32string lower_case(char32_t c) {
  if (c == 0x0130) return {U'i', 0x0307};  // the one lower case of two characters (SpecialCasing.txt)
  return {static_cast<char32_t>(u_tolower(static_cast<UChar32>(c)))};
}

namespace {

constexpr char32_t kFirstOther = 0x100;

constexpr bool is_printable(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
}

struct Alphabet {
  std::array<char32_t, 256> letters{};
  std::array<std::uint8_t, 68> others{};  // the bytes of U+0100 …

  constexpr Alphabet() {
    std::size_t count = 0;
    for (unsigned byte = 0; byte < 256; ++byte) {
      letters[byte] = is_printable(byte) ? byte : kFirstOther + static_cast<char32_t>(count);
      if (!is_printable(byte)) others[count++] = static_cast<std::uint8_t>(byte);
    }
  }
};

constexpr Alphabet kAlphabet;

}  // namespace

char32_t letter_of_byte(std::uint8_t byte) { return kAlphabet.letters[byte]; }

std::optional<std::uint8_t> byte_of_letter(char32_t letter) {
  if (letter < kFirstOther) {
    if (is_printable(letter)) return static_cast<std::uint8_t>(letter);
    return std::nullopt;
  }
  if (letter - kFirstOther < kAlphabet.others.size()) return kAlphabet.others[letter - kFirstOther];
  return std::nullopt;
}

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
  const std::string_view part = beginning(word, kMost);
  std::string text = "'";
  for (const char c : visible(part)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F) text += c;
    else text.append(kOpen).append(formatted("%02X", static_cast<unsigned>(byte))).append(kClose);
  }
  return text + (part.size() < word.size() ? "…'" : "'");
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
