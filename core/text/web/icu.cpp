// The functions of ICU that core/text calls, answered by the browser (tools/page/web/unicode.js): pages carry no tables
// of characters. Words are those of the program's ICU (72) as far as its Unicode (15) goes.
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uregex.h>
#include <unicode/uscript.h>
#include <unicode/uset.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#define FROM_PAGE(name) [[clang::import_module("page"), clang::import_name(#name)]]

extern "C" {
/// Where segments begin, and the end, into `to`: 0 grapheme clusters, 1 words. Their number.
FROM_PAGE(segment) int page_segment(const char16_t* text, int size, int kind, std::int32_t* to);
/// NFC, NFD, NFKC, NFKD: the size of the result, which stands in `to` where there is room.
FROM_PAGE(normalize) int page_normalize(const char16_t* text, int size, int form, char16_t* to, int room);
/// The category, and above it the bits of `Flag`.
FROM_PAGE(character) std::uint32_t page_character(int code);
FROM_PAGE(lower) int page_lower(int code);
/// A number for the expression; −1: the browser does not know it.
FROM_PAGE(expression) int page_expression(const char16_t* text, int size);
/// Whether it matches from `from` on; the match is stored in `to`.
FROM_PAGE(find) int page_find(int expression, const char16_t* text, int size, int from, std::int32_t* to);
}

namespace {

enum class Flag { white_space, alphabetic, ignorable, hiragana, katakana, hangul, complex, spaced, mark };

std::uint32_t bits_of(UChar32 c) {
  static std::unordered_map<UChar32, std::uint32_t> known;
  const auto [at, is_new] = known.try_emplace(c);
  if (is_new) at->second = page_character(c);
  return at->second;
}

bool has(UChar32 c, Flag flag) { return (bits_of(c) >> (5 + static_cast<int>(flag)) & 1) != 0; }

/// Characters younger than Unicode 9, or of those that it has younger than Unicode 8: punctuation, marks, format
/// characters and what a normal form changes. The age of other characters is not used.
struct Range {
  UChar32 first, last;
};
constexpr Range kAfter9[] = {
    {0x61D, 0x61D},     {0x7FD, 0x7FD},     {0x890, 0x891},     {0x898, 0x89F},     {0x8CA, 0x8D3},
    {0x9FD, 0x9FE},     {0xA76, 0xA76},     {0xAFA, 0xAFF},     {0xB55, 0xB55},     {0xC04, 0xC04},
    {0xC3C, 0xC3C},     {0xC77, 0xC77},     {0xC84, 0xC84},     {0xCF3, 0xCF3},     {0xD00, 0xD00},
    {0xD3B, 0xD3C},     {0xD81, 0xD81},     {0xEBA, 0xEBA},     {0xECE, 0xECE},     {0x1715, 0x1715},
    {0x180F, 0x180F},   {0x1ABF, 0x1ACE},   {0x1B7D, 0x1B7E},   {0x1CF7, 0x1CF7},   {0x1DF6, 0x1DFA},
    {0x2E45, 0x2E4F},   {0x2E52, 0x2E5D},   {0x32FF, 0x32FF},   {0xA7F2, 0xA7F4},   {0xA82C, 0xA82C},
    {0xA8FF, 0xA8FF},   {0xAB69, 0xAB69},   {0x10781, 0x10785}, {0x10787, 0x107B0}, {0x107B2, 0x107BA},
    {0x10D24, 0x10D27}, {0x10EAB, 0x10EAD}, {0x10EFD, 0x10EFF}, {0x10F46, 0x10F50}, {0x10F55, 0x10F59},
    {0x10F82, 0x10F89}, {0x11070, 0x11070}, {0x11073, 0x11074}, {0x110C2, 0x110C2}, {0x110CD, 0x110CD},
    {0x11145, 0x11146}, {0x111CE, 0x111CF}, {0x11241, 0x11241}, {0x1133B, 0x1133B}, {0x1145A, 0x1145A},
    {0x1145E, 0x1145E}, {0x116B9, 0x116B9}, {0x1182C, 0x1183B}, {0x11930, 0x11935}, {0x11937, 0x11938},
    {0x1193B, 0x1193E}, {0x11940, 0x11940}, {0x11942, 0x11946}, {0x119D1, 0x119D7}, {0x119DA, 0x119E0},
    {0x119E2, 0x119E2}, {0x119E4, 0x119E4}, {0x11A01, 0x11A0A}, {0x11A33, 0x11A39}, {0x11A3B, 0x11A47},
    {0x11A51, 0x11A5B}, {0x11A8A, 0x11A9C}, {0x11A9E, 0x11AA2}, {0x11B00, 0x11B09}, {0x11D31, 0x11D36},
    {0x11D3A, 0x11D3A}, {0x11D3C, 0x11D3D}, {0x11D3F, 0x11D45}, {0x11D47, 0x11D47}, {0x11D8A, 0x11D8E},
    {0x11D90, 0x11D91}, {0x11D93, 0x11D97}, {0x11EF3, 0x11EF8}, {0x11F00, 0x11F01}, {0x11F03, 0x11F03},
    {0x11F34, 0x11F3A}, {0x11F3E, 0x11F4F}, {0x11FFF, 0x11FFF}, {0x12FF1, 0x12FF2}, {0x13430, 0x13440},
    {0x13447, 0x13455}, {0x16E97, 0x16E9A}, {0x16F4F, 0x16F4F}, {0x16F7F, 0x16F87}, {0x16FE2, 0x16FE2},
    {0x16FE4, 0x16FE4}, {0x16FF0, 0x16FF1}, {0x1CF00, 0x1CF2D}, {0x1CF30, 0x1CF46}, {0x1E030, 0x1E06D},
    {0x1E08F, 0x1E08F}, {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF}, {0x1E4EC, 0x1E4EF},
    {0x1F16C, 0x1F16C}, {0x1FBF0, 0x1FBF9}};
constexpr Range kAfter8[] = {{0x8D4, 0x8E2},     {0x1DFB, 0x1DFB},   {0x2E43, 0x2E44},   {0xA8C5, 0xA8C5},
                             {0x1123E, 0x1123E}, {0x11435, 0x11446}, {0x1144B, 0x1144F}, {0x1145B, 0x1145B},
                             {0x1145D, 0x1145D}, {0x11660, 0x1166C}, {0x11C2F, 0x11C36}, {0x11C38, 0x11C3F},
                             {0x11C41, 0x11C45}, {0x11C70, 0x11C71}, {0x11C92, 0x11CA7}, {0x11CA9, 0x11CB6},
                             {0x1E000, 0x1E006}, {0x1E008, 0x1E018}, {0x1E01B, 0x1E021}, {0x1E023, 0x1E024},
                             {0x1E026, 0x1E02A}, {0x1E944, 0x1E94A}, {0x1E95E, 0x1E95F}};

template <std::size_t size>
bool is_in(const Range (&ranges)[size], UChar32 c) {
  const Range* at = std::lower_bound(std::begin(ranges), std::end(ranges), c,
                                     [](const Range& range, UChar32 one) { return range.last < one; });
  return at != std::end(ranges) && at->first <= c;
}

/// UTF-8 as UTF-16, and of each unit, and the end, its byte.
void widen(std::string_view text, std::u16string& units, std::vector<std::int32_t>& bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(text.data());
  for (std::int32_t at = 0, size = static_cast<std::int32_t>(text.size()); at < size;) {
    const std::int32_t begin = at;
    UChar32 c;
    U8_NEXT_OR_FFFD(data, at, size, c);
    bytes.push_back(begin);
    if (c > 0xFFFF) {
      units += U16_LEAD(c);
      units += U16_TRAIL(c);
      bytes.push_back(begin);
    } else {
      units += static_cast<char16_t>(c);
    }
  }
  bytes.push_back(static_cast<std::int32_t>(text.size()));
}

std::vector<std::int32_t> segments(std::u16string_view text, UBreakIteratorType type) {
  std::vector<std::int32_t> starts(text.size() + 1);
  const int kind = type == UBRK_WORD ? 1 : 0;
  starts.resize(
      static_cast<std::size_t>(page_segment(text.data(), static_cast<int>(text.size()), kind, starts.data())));
  return starts;
}

}  // namespace

struct UBreakIterator {
  UBreakIteratorType type = UBRK_CHARACTER;
  std::vector<std::int32_t> starts = {};
  std::size_t at = 0;
};

struct UNormalizer2 {
  int form = 0;
};
constexpr UNormalizer2 kForms[] = {{0}, {1}, {2}, {3}};

struct URegularExpression {
  int number = -1;
  std::u16string_view text = {};
  std::int32_t from = 0, found[2] = {};
};

extern "C" {

void u_charAge(UChar32 c, UVersionInfo version) {
  version[0] = is_in(kAfter9, c) ? 10 : is_in(kAfter8, c) ? 9 : 1;
  version[1] = version[2] = version[3] = 0;
}
std::int8_t u_charType(UChar32 c) { return static_cast<std::int8_t>(bits_of(c) & 31); }
UBool u_isUWhiteSpace(UChar32 c) { return has(c, Flag::white_space); }
UBool u_isdigit(UChar32 c) { return u_charType(c) == U_DECIMAL_DIGIT_NUMBER; }
UChar32 u_tolower(UChar32 c) { return page_lower(c); }

UBool u_hasBinaryProperty(UChar32 c, UProperty property) {
  switch (property) {
    case UCHAR_WHITE_SPACE: return has(c, Flag::white_space);
    case UCHAR_ALPHABETIC: return has(c, Flag::alphabetic);
    case UCHAR_DEFAULT_IGNORABLE_CODE_POINT: return has(c, Flag::ignorable);
    case UCHAR_POSIX_ALNUM: return has(c, Flag::alphabetic) || u_isdigit(c);
    default: return false;
  }
}

std::int32_t u_getIntPropertyValue(UChar32 c, UProperty property) {
  switch (property) {
    case UCHAR_LINE_BREAK: return has(c, Flag::complex) ? U_LB_COMPLEX_CONTEXT : U_LB_UNKNOWN;
    case UCHAR_WORD_BREAK: return has(c, Flag::spaced) ? U_WB_ALETTER : U_WB_OTHER;
    case UCHAR_GRAPHEME_CLUSTER_BREAK: return has(c, Flag::mark) ? U_GCB_EXTEND : U_GCB_OTHER;
    default: return 0;
  }
}

UScriptCode uscript_getScript(UChar32 c, UErrorCode*) {
  return has(c, Flag::hiragana)   ? USCRIPT_HIRAGANA
         : has(c, Flag::katakana) ? USCRIPT_KATAKANA
         : has(c, Flag::hangul)   ? USCRIPT_HANGUL
                                  : USCRIPT_COMMON;
}

UText* utext_openUTF8(UText*, const char* text, std::int64_t length, UErrorCode*) {
  auto* const opened = new UText{};
  opened->context = text;
  opened->a = length;
  return opened;
}
UText* utext_close(UText* text) {
  delete text;
  return nullptr;
}

UBreakIterator* ubrk_open(UBreakIteratorType type, const char*, const UChar* text, std::int32_t length, UErrorCode*) {
  auto* const breaks = new UBreakIterator{type};
  if (text) breaks->starts = segments({text, static_cast<std::size_t>(length)}, type);
  return breaks;
}
void ubrk_close(UBreakIterator* breaks) { delete breaks; }
void ubrk_setUText(UBreakIterator* breaks, UText* text, UErrorCode*) {
  std::u16string units;
  std::vector<std::int32_t> bytes;
  widen({static_cast<const char*>(text->context), static_cast<std::size_t>(text->a)}, units, bytes);
  breaks->starts = segments(units, breaks->type);
  for (std::int32_t& start : breaks->starts) start = bytes[static_cast<std::size_t>(start)];
}
std::int32_t ubrk_first(UBreakIterator* breaks) {
  breaks->at = 0;
  return ubrk_next(breaks);
}
std::int32_t ubrk_next(UBreakIterator* breaks) {
  return breaks->at < breaks->starts.size() ? breaks->starts[breaks->at++] : UBRK_DONE;
}

const UNormalizer2* unorm2_getNFCInstance(UErrorCode*) { return &kForms[0]; }
const UNormalizer2* unorm2_getNFDInstance(UErrorCode*) { return &kForms[1]; }
const UNormalizer2* unorm2_getNFKCInstance(UErrorCode*) { return &kForms[2]; }
const UNormalizer2* unorm2_getNFKDInstance(UErrorCode*) { return &kForms[3]; }
UNormalizer2* unorm2_openFiltered(const UNormalizer2* form, const USet*, UErrorCode*) {
  return new UNormalizer2(*form);
}
void unorm2_close(UNormalizer2* form) { delete form; }

/// Characters younger than Unicode 9 stay as they are, and nothing across them changes.
std::int32_t unorm2_normalize(const UNormalizer2* form, const UChar* text, std::int32_t length, UChar* to,
                              std::int32_t room, UErrorCode*) {
  std::u16string result, part;
  const auto put = [&] {
    if (part.empty()) return;
    std::u16string changed(part.size() * 4 + 32, u'\0');
    for (bool fits = false; !fits;) {
      const int size = page_normalize(part.data(), static_cast<int>(part.size()), form->form, changed.data(),
                                      static_cast<int>(changed.size()));
      fits = static_cast<std::size_t>(size) <= changed.size();
      changed.resize(static_cast<std::size_t>(size));
    }
    result += changed;
    part.clear();
  };
  for (std::int32_t at = 0; at < length;) {
    const std::int32_t begin = at;
    UChar32 c;
    U16_NEXT(text, at, length, c);
    const std::u16string_view one(text + begin, static_cast<std::size_t>(at - begin));
    if (!is_in(kAfter9, c)) {
      part += one;
      continue;
    }
    put();
    result += one;
  }
  put();
  if (result.size() <= static_cast<std::size_t>(room)) std::copy(result.begin(), result.end(), to);
  return static_cast<std::int32_t>(result.size());
}

UBool unorm2_hasBoundaryBefore(const UNormalizer2* form, UChar32 c) {
  if (is_in(kAfter9, c)) return true;
  const bool is_jamo = (c >= 0x1160 && c <= 0x11FF) || (c >= 0xD7B0 && c <= 0xD7FB);
  const bool is_half_wide = form->form >= 2 && (c == 0xFF9E || c == 0xFF9F || (c >= 0xFFA0 && c <= 0xFFDC));
  return !is_jamo && !is_half_wide && (U_GET_GC_MASK(c) & U_GC_M_MASK) == 0;
}

USet* uset_openPattern(const UChar*, std::int32_t, UErrorCode*) { return nullptr; }
void uset_freeze(USet*) {}
void uset_close(USet*) {}

URegularExpression* uregex_open(const UChar* pattern, std::int32_t length, std::uint32_t, UParseError*,
                                UErrorCode* error) {
  const int number = page_expression(pattern, length);
  if (number < 0) *error = U_REGEX_RULE_SYNTAX;
  return number < 0 ? nullptr : new URegularExpression{number};
}
URegularExpression* uregex_clone(const URegularExpression* regex, UErrorCode*) {
  return new URegularExpression{regex->number};
}
void uregex_close(URegularExpression* regex) { delete regex; }
void uregex_setStackLimit(URegularExpression*, std::int32_t, UErrorCode*) {}
void uregex_setTimeLimit(URegularExpression*, std::int32_t, UErrorCode*) {}
void uregex_setMatchCallback(URegularExpression*, URegexMatchCallback*, const void*, UErrorCode*) {}
void uregex_setText(URegularExpression* regex, const UChar* text, std::int32_t length, UErrorCode*) {
  regex->text = {text, static_cast<std::size_t>(length)};
  regex->from = 0;
}
UBool uregex_findNext(URegularExpression* regex, UErrorCode*) {
  const auto size = static_cast<std::int32_t>(regex->text.size());
  if (regex->from > size || !page_find(regex->number, regex->text.data(), size, regex->from, regex->found))
    return false;
  regex->from = regex->found[1];
  if (regex->found[0] != regex->found[1]) return true;
  if (regex->from < size) U16_FWD_1(regex->text.data(), regex->from, size);
  else ++regex->from;
  return true;
}
std::int32_t uregex_start(URegularExpression* regex, std::int32_t, UErrorCode*) { return regex->found[0]; }
std::int32_t uregex_end(URegularExpression* regex, std::int32_t, UErrorCode*) { return regex->found[1]; }

/// Where the character of the byte `at` begins, of text that is UTF-8.
std::int32_t utf8_back1SafeBody(const std::uint8_t* text, std::int32_t begin, std::int32_t at) {
  while (at > begin && U8_IS_TRAIL(text[at])) --at;
  return at;
}

const char* u_errorName(UErrorCode error) {
  return error == U_REGEX_RULE_SYNTAX ? "not known to this browser" : "failed";
}
}
