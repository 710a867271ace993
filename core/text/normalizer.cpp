#include "text/normalizer.h"

#include <unicode/ubrk.h>
#include <unicode/unorm2.h>
#include <unicode/uset.h>
#include <algorithm>
#include <cassert>

#include "base/utf8.h"
#include "text/characters.h"

namespace headlight {
namespace {

// The fields of a unit, as Darts-clone packs them.
bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
std::uint32_t value(std::uint32_t unit) { return unit & 0x7FFFFFFF; }
std::uint32_t label(std::uint32_t unit) { return unit & 0x800000FF; }
std::size_t offset(std::uint32_t unit) { return static_cast<std::size_t>(unit >> 10) << ((unit & 1u << 9) >> 6); }

constexpr std::size_t kLongCluster = 6;  // bytes
constexpr std::size_t kLongReplacement = 128;

/// The letters at which grapheme clusters begin (UAX #29), and the end.
std::vector<std::uint32_t> cluster_starts(LetterSpan letters) {
  Utf16 utf16;
  to_utf16(letters, utf16);
  UErrorCode error = U_ZERO_ERROR;
  const std::unique_ptr<UBreakIterator, decltype(&ubrk_close)> clusters(
      ubrk_open(UBRK_CHARACTER, "", utf16.text.data(), static_cast<std::int32_t>(utf16.text.size()), &error),
      &ubrk_close);
  assert(U_SUCCESS(error));
  std::vector<std::uint32_t> starts;
  for (std::int32_t at = ubrk_first(clusters.get()); at != UBRK_DONE; at = ubrk_next(clusters.get()))
    starts.push_back(utf16.letter_of_unit[static_cast<std::size_t>(at)]);
  return starts;
}

}  // namespace

Result<Charsmap> Charsmap::parse(std::string_view where, std::string_view bytes) {
  const auto number = [&bytes](std::size_t at) {
    std::uint32_t result = 0;
    for (std::size_t i = 4; i-- > 0;) result = result << 8 | static_cast<std::uint8_t>(bytes[at + i]);
    return result;
  };
  const std::size_t size = bytes.size() < 4 ? 0 : number(0);
  if (size < 4 || size % 4 != 0 || size > bytes.size() - 4)
    return bad_input(where, "precompiled_charsmap", "a trie and its replacements",
                     "a trie of " + std::to_string(size) + " bytes in " + std::to_string(bytes.size()));
  Charsmap map;
  map.units_.resize(size / 4);
  for (std::size_t i = 0; i < map.units_.size(); ++i) map.units_[i] = number(4 + 4 * i);
  map.replacements_ = bytes.substr(4 + size);
  TRY(check_utf8(std::string(where) + ": precompiled_charsmap", map.replacements_));
  TRY(map.check(where));
  return map;
}

Status Charsmap::check(std::string_view where) const {
  const auto outside = [where](std::string_view what, std::size_t found) {
    return bad_input(where, "precompiled_charsmap", what, "offset " + std::to_string(found));
  };
  std::vector<bool> seen(units_.size());
  std::vector<std::size_t> nodes{offset(units_[0])};  // a node is the offset of its children
  while (!nodes.empty()) {
    const std::size_t node = nodes.back();
    nodes.pop_back();
    if (node >= units_.size()) return outside("a trie that stays inside itself", node);
    if (seen[node]) continue;
    seen[node] = true;
    for (std::uint32_t byte = 1; byte < 256; ++byte) {
      const std::size_t child = node ^ byte;
      if (child >= units_.size()) return outside("a trie that stays inside itself", child);
      const std::uint32_t unit = units_[child];
      if (label(unit) != byte) continue;
      const std::size_t next = child ^ offset(unit);
      nodes.push_back(next);
      if (!has_leaf(unit)) continue;
      if (next >= units_.size()) return outside("a trie that stays inside itself", next);
      const std::size_t at = value(units_[next]);
      if (at > replacements_.size() || (at < replacements_.size() && (replacements_[at] & 0xC0) == 0x80))
        return outside("replacements inside their " + std::to_string(replacements_.size()) + " bytes", at);
      if (std::string_view(replacements_).substr(at, kLongReplacement).find('\0') == std::string_view::npos &&
          replacements_.size() - at >= kLongReplacement)
        return outside("replacements of less than " + std::to_string(kLongReplacement) + " bytes", at);
    }
  }
  return Done{};
}

std::optional<std::string_view> Charsmap::replacement(std::string_view key) const {
  std::size_t node = offset(units_[0]);
  for (const char c : key) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte == 0) break;
    node ^= byte;
    const std::uint32_t unit = units_[node];
    if (label(unit) != byte) break;
    node ^= offset(unit);
    if (!has_leaf(unit)) continue;
    const std::string_view rest = std::string_view(replacements_).substr(value(units_[node]));
    return rest.substr(0, rest.find('\0'));
  }
  return std::nullopt;
}

void Charsmap::normalize(Letters& letters) const {
  if (letters.empty()) return;
  Letters result;
  result.reserve(letters.size());
  const std::vector<std::uint32_t> starts = cluster_starts(letters);
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    const LetterSpan cluster = LetterSpan(letters).subspan(starts[i], starts[i + 1] - starts[i]);
    const std::string key = utf8_of(cluster);
    const auto put = [&result](std::string_view text, LetterSpan from) {
      const std::vector<char32_t> codes = code_points(text);
      append_letters(result, {codes.data(), codes.size()}, from.front().begin, from.back().end);
    };
    if (const auto found = key.size() < kLongCluster ? replacement(key) : std::nullopt) {
      put(*found, cluster);
      continue;
    }
    for (std::size_t k = 0; k < cluster.size(); ++k) {
      const LetterSpan one = cluster.subspan(k, 1);
      if (const auto found = replacement(utf8_of(one))) put(*found, one);
      else result.push_back(one.front());
    }
  }
  letters = std::move(result);
}

namespace {

/// ICU's normalisers, kept to the characters that Unicode 9 had.
class Forms {
 public:
  Forms() {
    UErrorCode error = U_ZERO_ERROR;
    known_ = uset_openPattern(u"[:age=9.0:]", -1, &error);
    assert(U_SUCCESS(error));
    uset_freeze(known_);
    const UNormalizer2* all[] = {unorm2_getNFCInstance(&error), unorm2_getNFDInstance(&error),
                                 unorm2_getNFKCInstance(&error), unorm2_getNFKDInstance(&error)};
    for (int i = 0; i < 4; ++i) forms_[i] = unorm2_openFiltered(all[i], known_, &error);
    assert(U_SUCCESS(error));
  }
  ~Forms() {
    for (UNormalizer2* form : forms_) unorm2_close(form);
    uset_close(known_);
  }
  Forms(const Forms&) = delete;
  Forms& operator=(const Forms&) = delete;

  const UNormalizer2* operator[](UnicodeForm form) const { return forms_[static_cast<std::size_t>(form)]; }

 private:
  USet* known_ = nullptr;
  UNormalizer2* forms_[4] = {};
};

const UNormalizer2* normalizer_of(UnicodeForm form) {
  static const Forms forms;
  return forms[form];
}

void normalize_stretch(const UNormalizer2* form, LetterSpan stretch, Utf16& utf16, Letters& result) {
  if (stretch.size() == 1 && stretch.front().code < 0x80) {
    result.push_back(stretch.front());
    return;
  }
  to_utf16(stretch, utf16);
  const auto size = static_cast<std::int32_t>(utf16.text.size());
  std::u16string changed(utf16.text.size() * 4 + 32, u'\0');
  for (;;) {
    UErrorCode error = U_ZERO_ERROR;
    const std::int32_t needed = unorm2_normalize(form, utf16.text.data(), size, changed.data(),
                                                 static_cast<std::int32_t>(changed.size()), &error);
    const bool fits = static_cast<std::size_t>(needed) <= changed.size();
    assert(!fits || U_SUCCESS(error));
    changed.resize(static_cast<std::size_t>(needed));
    if (fits) break;
  }
  if (changed == utf16.text) {
    result.insert(result.end(), stretch.begin(), stretch.end());
    return;
  }
  for (std::int32_t at = 0, end = static_cast<std::int32_t>(changed.size()); at < end;) {
    UChar32 c;
    U16_NEXT(changed.data(), at, end, c);
    result.push_back({static_cast<char32_t>(c), stretch.front().begin, stretch.back().end});
  }
}

/// Parts that cannot interact are normalised separately, so that each letter keeps its bytes.
void to_form(UnicodeForm which, Letters& letters) {
  const UNormalizer2* form = normalizer_of(which);
  Letters result;
  result.reserve(letters.size());
  Utf16 utf16;
  for (std::size_t begin = 0, end = 0; begin < letters.size(); begin = end) {
    for (end = begin + 1; end < letters.size(); ++end)
      if (unorm2_hasBoundaryBefore(form, static_cast<UChar32>(letters[end].code))) break;
    normalize_stretch(form, LetterSpan(letters).subspan(begin, end - begin), utf16, result);
  }
  letters = std::move(result);
}

template <class Drop>
void drop_if(Letters& letters, Drop drop) {
  std::erase_if(letters, [&drop](const Letter& letter) { return drop(letter.code); });
}

bool is_dropped_by_nmt(char32_t c) {
  return (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
}

bool is_space_to_nmt(char32_t c) {
  switch (c) {
    case 0x09:
    case 0x0A:
    case 0x0C:
    case 0x0D:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x2581:
    case 0xFEFF:
    case 0xFFFD: return true;
    default: return c >= 0x200B && c <= 0x200F;
  }
}

Status apply(CleanText, Letters& letters, std::size_t) {
  drop_if(letters, [](char32_t c) { return c == 0 || c == 0xFFFD || is_control(c); });
  for (Letter& letter : letters)
    if (is_white_space(letter.code)) letter.code = U' ';
  return Done{};
}

Status apply(SpaceChinese, Letters& letters, std::size_t) {
  Letters result;
  result.reserve(letters.size());
  for (const Letter& letter : letters) {
    const bool apart = is_chinese_character(letter.code);
    if (apart) result.push_back({U' ', letter.begin, letter.begin});
    result.push_back(letter);
    if (apart) result.push_back({U' ', letter.end, letter.end});
  }
  letters = std::move(result);
  return Done{};
}

Status apply(DropAccents, Letters& letters, std::size_t) {
  to_form(UnicodeForm::nfd, letters);
  drop_if(letters, is_nonspacing_mark);
  return Done{};
}

Status apply(StripAccents, Letters& letters, std::size_t) {
  drop_if(letters, is_mark);
  return Done{};
}

Status apply(Lowercase, Letters& letters, std::size_t) {
  Letters result;
  result.reserve(letters.size());
  for (const Letter& letter : letters) append_letters(result, lower_case(letter.code), letter.begin, letter.end);
  letters = std::move(result);
  return Done{};
}

Status apply(UnicodeForm form, Letters& letters, std::size_t) {
  to_form(form, letters);
  return Done{};
}

Status apply(Strip strip, Letters& letters, std::size_t) {
  const auto is_ink = [](const Letter& letter) { return !is_white_space(letter.code); };
  if (strip.right) letters.erase(std::find_if(letters.rbegin(), letters.rend(), is_ink).base(), letters.end());
  if (strip.left) letters.erase(letters.begin(), std::find_if(letters.begin(), letters.end(), is_ink));
  return Done{};
}

Status apply(const Replace& replace, Letters& letters, std::size_t most) {
  const auto stretches = TRY(Finder(replace.pattern).find(letters));
  Letters result;
  result.reserve(letters.size());
  for (const Stretch& stretch : stretches) {
    const LetterSpan old = LetterSpan(letters).subspan(stretch.begin, stretch.end - stretch.begin);
    if (!stretch.found) {
      result.insert(result.end(), old.begin(), old.end());
    } else {
      // Nothing replaced: the content stands between two bytes.
      const std::uint32_t here = result.empty() ? (letters.empty() ? 0 : letters.front().begin) : result.back().end;
      append_letters(result, replace.content, old.empty() ? here : old.front().begin,
                     old.empty() ? here : old.back().end);
      TRY(check_growth(result.size(), most));
    }
  }
  letters = std::move(result);
  return Done{};
}

Status apply(const Prepend& prepend, Letters& letters, std::size_t) {
  if (letters.empty()) return Done{};
  Letters result;
  append_letters(result, prepend.text, letters.front().begin, letters.front().begin);
  letters.insert(letters.begin(), result.begin(), result.end());
  return Done{};
}

Status apply(Nmt, Letters& letters, std::size_t) {
  drop_if(letters, is_dropped_by_nmt);
  for (Letter& letter : letters)
    if (is_space_to_nmt(letter.code)) letter.code = U' ';
  return Done{};
}

Status apply(SpellBytes, Letters& letters, std::size_t) {
  spell_bytes(letters);
  return Done{};
}

Status apply(const std::shared_ptr<const Charsmap>& charsmap, Letters& letters, std::size_t) {
  charsmap->normalize(letters);
  return Done{};
}

}  // namespace

Status check_growth(std::size_t count, std::size_t most) {
  if (count <= most) return Done{};
  return bad_input("tokenizer", "normalizers and pre-tokenizers",
                   "at most " + std::to_string(most) + " characters made of this text", "more");
}

void spell_bytes(Letters& letters) {
  Letters result;
  result.reserve(letters.size() * 2);
  std::string bytes;
  for (const Letter& letter : letters) {
    bytes.clear();
    append_utf8(bytes, letter.code);
    const bool whole = letter.end - letter.begin != bytes.size();
    for (std::uint32_t i = 0; i < bytes.size(); ++i) {
      const std::uint32_t begin = whole ? letter.begin : letter.begin + i;
      result.push_back({letter_of_byte(static_cast<std::uint8_t>(bytes[i])), begin, whole ? letter.end : begin + 1});
    }
  }
  letters = std::move(result);
}

Status normalize(const std::vector<Normalizer>& rules, Letters& letters) {
  const std::size_t most = most_letters(letters.size());
  for (const Normalizer& rule : rules) {
    TRY(std::visit([&](const auto& known) { return apply(known, letters, most); }, rule));
    TRY(check_growth(letters.size(), most));
  }
  return Done{};
}

}  // namespace headlight
