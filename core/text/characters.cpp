#include "text/characters.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <cstdint>

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

std::u32string lower_case(char32_t c) {
  if (c == 0x0130) return {U'i', 0x0307};  // the one lower case of two characters (SpecialCasing.txt)
  return {static_cast<char32_t>(u_tolower(static_cast<UChar32>(c)))};
}

}  // namespace headlight
