#include "text/likely_words.h"

#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "text/characters.h"
#include "text/subwords.h"

namespace headlight {
namespace {

constexpr double kStepsPerNat = 1024, kUnknownNats = 2;

enum class CharacterClass : std::uint8_t { space, letter, digit, chinese, mark, other };

bool is_spaced_script(UChar32 c) {
  UErrorCode status = U_ZERO_ERROR;
  switch (uscript_getScript(c, &status)) {
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
    case USCRIPT_HANGUL: return false;
    default: return u_getIntPropertyValue(c, UCHAR_LINE_BREAK) != U_LB_COMPLEX_CONTEXT;  // Thai, Lao, Khmer, Burmese
  }
}

CharacterClass kind_beyond_ascii(UChar32 c) {
  if (is_white_space(static_cast<char32_t>(c))) return CharacterClass::space;
  if (is_chinese_character(static_cast<char32_t>(c)) || c == 0x3005 || c == 0x3007) return CharacterClass::chinese;
  if (u_isdigit(c)) return CharacterClass::digit;
  const std::uint32_t category = U_GET_GC_MASK(c);
  if (category & (U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK))
    return is_spaced_script(c) ? CharacterClass::letter : CharacterClass::other;
  if (category & U_GC_P_MASK) return CharacterClass::mark;
  if (c >= 0x1F000)
    return CharacterClass::other;  // emoji, skin tones among them, of which ICU knows what belongs together
  return (category & (U_GC_SM_MASK | U_GC_SC_MASK | U_GC_SK_MASK)) ? CharacterClass::mark : CharacterClass::other;
}

constexpr std::array<CharacterClass, 128> ascii_kinds() {
  std::array<CharacterClass, 128> kinds{};
  for (std::size_t c = 0; c < kinds.size(); ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool space = c == ' ' || (c >= '\t' && c <= '\r');
    kinds[c] = letter                 ? CharacterClass::letter
               : c >= '0' && c <= '9' ? CharacterClass::digit
               : space                ? CharacterClass::space
               : c > ' ' && c < 0x7F  ? CharacterClass::mark
                                      : CharacterClass::other;
  }
  return kinds;
}

CharacterClass kind_of(UChar32 c) {
  static constexpr std::array<CharacterClass, 128> kAscii = ascii_kinds();
  return c < 128 ? kAscii[static_cast<std::size_t>(c)] : kind_beyond_ascii(c);
}

/// A character of the text and what it is; of no character behind the end.
struct At {
  UChar32 code = 0;
  CharacterClass kind = CharacterClass::space;
  std::size_t end = 0;
};

At character(std::string_view text, std::size_t begin) {
  if (begin >= text.size()) return {.end = begin};
  const auto byte = static_cast<unsigned char>(text[begin]);
  if (byte < 0x80) return {byte, kind_of(byte), begin + 1};
  auto end = static_cast<std::int64_t>(begin);
  UChar32 code = 0;
  U8_NEXT_OR_FFFD(reinterpret_cast<const std::uint8_t*>(text.data()), end, static_cast<std::int64_t>(text.size()),
                  code);
  return {code, kind_of(code), static_cast<std::size_t>(end)};
}

bool is_apostrophe(UChar32 c) { return c == '\'' || c == 0x2019; }
bool is_word(CharacterClass kind) { return kind == CharacterClass::letter || kind == CharacterClass::digit; }

/// Where the word that begins with a letter or a digit ends.
std::size_t end_of_word(std::string_view text, At at) {
  for (;;) {
    const At next = character(text, at.end);
    if (next.end == at.end) return at.end;
    if (is_word(next.kind)) {
      at = next;
      continue;
    }
    const bool joins_letters = is_apostrophe(next.code) && at.kind == CharacterClass::letter;
    const bool joins_digits =
        at.kind == CharacterClass::digit && (next.code == '.' || next.code == ',' || next.code == ':');
    if (!joins_letters && !joins_digits) return at.end;
    const At behind = character(text, next.end);
    if (behind.kind != (joins_letters ? CharacterClass::letter : CharacterClass::digit) || behind.end == next.end)
      return at.end;
    at = behind;
  }
}

/// The word in lower case with straight apostrophes, where it is ASCII but for those; else nothing of use.
std::string plain(std::string_view word) {
  std::string result;
  for (std::size_t at = 0; at < word.size(); ++at) {
    if (word.substr(at).starts_with("\u2019")) {
      result += '\'';
      at += 2;
    } else {
      result += word[at] >= 'A' && word[at] <= 'Z' ? static_cast<char>(word[at] - 'A' + 'a') : word[at];
    }
  }
  return result;
}

/// How many bytes of the word before its clitic; its size where it has none.
std::size_t before_clitic(std::string_view word) {
  constexpr std::size_t kLongest = 64;
  if (word.size() > kLongest) return word.size();
  const std::string lower = plain(word);
  if (lower == "cannot") return 3;
  for (const std::string_view clitic : {"n't", "'s", "'m", "'re", "'ve", "'ll", "'d"}) {
    if (lower.size() <= clitic.size() || !lower.ends_with(clitic)) continue;
    const bool curly = word.substr(0, word.size()).find("\u2019", lower.size() - clitic.size()) != word.npos;
    return word.size() - clitic.size() - (curly ? 2 : 0);
  }
  return word.size();
}

bool repeats(UChar32 mark) {
  switch (mark) {
    case '.':
    case '-':
    case '!':
    case '?':
    case '~':
    case '=':
    case '*':
    case '#':
    case '+':
    case '_':
    case 0x2014:
    case 0x2026:
    case 0x3002:
    case 0xFF01:
    case 0xFF1F:
    case 0x00B7: return true;
    default: return false;
  }
}

void cut_by_icu(std::string_view run, std::size_t begin, std::vector<std::size_t>& cuts) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UText, decltype(&utext_close)> input(
      utext_openUTF8(nullptr, run.data(), static_cast<std::int64_t>(run.size()), &status), utext_close);
  const std::unique_ptr<UBreakIterator, decltype(&ubrk_close)> breaks(ubrk_open(UBRK_WORD, "root", nullptr, 0, &status),
                                                                      ubrk_close);
  ubrk_setUText(breaks.get(), input.get(), &status);
  assert(U_SUCCESS(status));  // these rules are part of the ICU library
  if (U_FAILURE(status)) return;
  for (std::int32_t at = ubrk_first(breaks.get()); at != UBRK_DONE; at = ubrk_next(breaks.get()))
    if (at > 0 && static_cast<std::size_t>(at) < run.size()) cuts.push_back(begin + static_cast<std::size_t>(at));
}

}  // namespace

struct LikelyWords::Table {
  WordTable words;
  std::vector<std::uint32_t> costs;  // by id, in steps of a nat / 1024, so that sums are exact
  std::uint32_t unknown = 0;
  std::function<std::vector<Word>()> read;
  std::once_flag is_read;

  void fill(const std::vector<Word>& given) {
    std::vector<WordTable::Word> list;
    list.reserve(given.size());
    costs.reserve(given.size());
    std::uint32_t highest = 0;
    for (const Word& word : given) {
      assert(word.cost >= 0 && word.cost <= kHighestCost);
      list.push_back({word.text, static_cast<std::int32_t>(costs.size())});
      costs.push_back(static_cast<std::uint32_t>(std::lround(word.cost * kStepsPerNat)));
      highest = std::max(highest, costs.back());
    }
    words = WordTable(std::move(list));
    unknown = highest + static_cast<std::uint32_t>(kUnknownNats * kStepsPerNat);
  }
};

LikelyWords::LikelyWords(const std::vector<Word>& words) : table_(std::make_shared<Table>()) { table_->fill(words); }

LikelyWords::LikelyWords(std::function<std::vector<Word>()> read) : table_(std::make_shared<Table>()) {
  table_->read = std::move(read);
}

const LikelyWords::Table& LikelyWords::table() const {
  if (table_->read) std::call_once(table_->is_read, [this] { table_->fill(table_->read()); });
  return *table_;
}

std::vector<LikelyWords::Word> LikelyWords::words() const {
  const Table& all = table();
  std::vector<Word> list;
  for (std::size_t id = 0; id < all.costs.size(); ++id) {
    const auto own = static_cast<std::int32_t>(id);
    const std::string_view text = all.words.text(own);
    if (!text.empty() && all.words.id(text) == own) list.push_back({std::string(text), all.costs[id] / kStepsPerNat});
  }
  return list;
}

void LikelyWords::cut_chinese(std::string_view run, std::size_t begin, std::vector<std::size_t>& cuts) const {
  constexpr auto kFar = std::numeric_limits<std::uint64_t>::max();
  struct Path {
    std::uint64_t cost = kFar;
    std::size_t from = 0;
  };
  const Table& table = this->table();
  std::vector<Path> best(run.size() + 1);
  best.front().cost = 0;
  for (std::size_t at = 0; at < run.size(); ++at) {
    if (best[at].cost == kFar) continue;  // inside a character
    const auto reach = [&](std::size_t length, std::uint32_t cost) {
      if (best[at].cost + cost < best[at + length].cost) best[at + length] = {best[at].cost + cost, at};
    };
    bool known = false;
    const std::size_t one = character(run, at).end - at;
    table.words.each_prefix({}, run.substr(at), [&](std::size_t length, std::int32_t id) {
      known = known || length == one;
      reach(length, table.costs[static_cast<std::size_t>(id)]);
    });
    if (!known) reach(one, table.unknown);
  }
  const std::size_t first = cuts.size();
  for (std::size_t at = best.back().from; at > 0; at = best[at].from) cuts.push_back(begin + at);
  std::reverse(cuts.begin() + static_cast<std::ptrdiff_t>(first), cuts.end());
}

std::vector<std::size_t> LikelyWords::cuts(std::string_view text) const {
  std::vector<std::size_t> cuts;
  for (std::size_t begin = 0; begin < text.size();) {
    const At first = character(text, begin);
    std::size_t end = first.end;
    if (begin > 0) cuts.push_back(begin);
    if (is_word(first.kind)) {
      end = end_of_word(text, first);
      const std::size_t stem = before_clitic(text.substr(begin, end - begin));
      if (begin + stem < end) cuts.push_back(begin + stem);
    } else if (first.kind == CharacterClass::mark) {
      const std::string_view mark = text.substr(begin, end - begin);
      while (repeats(first.code) && text.substr(end).starts_with(mark)) end += mark.size();
    } else {
      for (At next = character(text, end); next.end > end && next.kind == first.kind; next = character(text, end))
        end = next.end;
      const std::string_view run = text.substr(begin, end - begin);
      if (first.kind == CharacterClass::chinese) cut_chinese(run, begin, cuts);
      if (first.kind == CharacterClass::other) cut_by_icu(run, begin, cuts);
    }
    begin = end;
  }
  return cuts;
}

}  // namespace headlight
