#include "text/words.h"

#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cassert>

#include "base/utf8.h"
#include "text/characters.h"

namespace headlight {
namespace {

constexpr std::size_t kLongestLexiconWord = 64;  // characters; bounds the look-ups at one position of the text

/// One flag for every byte offset of a text, its end included.
using Offsets = std::vector<bool>;

struct Stretch {
  std::size_t begin, end;
};

UChar32 code_point_at(std::string_view text, std::size_t at) {
  UChar32 c;
  U8_GET_OR_FFFD(reinterpret_cast<const std::uint8_t*>(text.data()), 0, static_cast<int64_t>(at),
                 static_cast<int64_t>(text.size()), c);
  return c;
}

UChar32 code_point_before(std::string_view text, std::size_t at) { return code_point_at(text, at - 1); }

/// The offset behind the white space that begins at `at`.
std::size_t behind_spaces(std::string_view text, std::size_t at) {
  while (at < text.size() && u_isUWhiteSpace(code_point_at(text, at))) {
    do ++at;
    while (!is_boundary(text, at));
  }
  return at;
}

/// Where the white space that ends `text` begins.
std::size_t trailing_spaces(std::string_view text) {
  std::size_t at = text.size();
  while (at > 0 && u_isUWhiteSpace(code_point_before(text, at))) {
    do --at;
    while (!is_boundary(text, at));
  }
  return at;
}

std::string_view trimmed(std::string_view text) {
  text = text.substr(0, trailing_spaces(text));
  return text.substr(behind_spaces(text, 0));
}

/// Whether every character is a grapheme cluster: ASCII without control codes, Chinese characters and their marks.
bool is_plain(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x80 ? byte < 0xE3 || byte > 0xE9 : byte < 0x20) return false;
    if (byte < 0x80) continue;
    const UChar32 c = code_point_at(text, at);
    const bool chinese = (c >= 0x3000 && c <= 0x3011) || (c >= 0x4E00 && c <= 0x9FFF);
    if (!chinese) return false;
    at += 2;
  }
  return true;
}

/// The text as ICU is to cut it: versions of ICU differ in whether these characters join letters. As long as the text.
std::string pinned(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kAs[] = {{"@", "a"}, {":", "+"}, {"：", "＋"}, {"¸", "±"}};
  for (const auto& [one, other] : kAs)
    for (std::size_t at = 0; (at = text.find(one, at)) != text.npos; at += one.size())
      text.replace(at, one.size(), other);
  return text;
}

Offsets boundaries(std::string_view text, UBreakIteratorType type) {
  Offsets result(text.size() + 1, false);
  result.front() = result.back() = true;
  if (type == UBRK_CHARACTER && is_plain(text)) {
    for (std::size_t at = 0; at < text.size(); ++at) result[at] = is_boundary(text, at);
    return result;
  }
  UErrorCode status = U_ZERO_ERROR;
  const std::string cut = type == UBRK_WORD ? pinned(std::string(text)) : std::string(text);
  const std::unique_ptr<UText, decltype(&utext_close)> input(
      utext_openUTF8(nullptr, cut.data(), static_cast<int64_t>(text.size()), &status), utext_close);
  const std::unique_ptr<UBreakIterator, decltype(&ubrk_close)> breaks(ubrk_open(type, "root", nullptr, 0, &status),
                                                                      ubrk_close);
  ubrk_setUText(breaks.get(), input.get(), &status);
  assert(U_SUCCESS(status));  // these rules are part of the ICU library
  if (U_FAILURE(status)) return result;
  for (int32_t at = ubrk_first(breaks.get()); at != UBRK_DONE; at = ubrk_next(breaks.get()))
    result[static_cast<std::size_t>(at)] = true;
  return result;
}

/// Whether UAX #29 by itself, without a dictionary, sees words in a run of such characters.
bool is_spaced_letter(UChar32 c) {
  switch (u_getIntPropertyValue(c, UCHAR_WORD_BREAK)) {
    case U_WB_ALETTER:
    case U_WB_HEBREW_LETTER:
    case U_WB_NUMERIC:
    case U_WB_KATAKANA:
    case U_WB_EXTENDNUMLET: return true;
    default: return false;
  }
}

/// Where a word of the lexicon may begin or end.
Offsets possible_ends(std::string_view text, Offsets clusters) {
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (clusters[at] && is_spaced_letter(code_point_before(text, at)) && is_spaced_letter(code_point_at(text, at)))
      clusters[at] = false;
  }
  return clusters;
}

/// The words of the lexicon in `text`, in the order of the text: the longest are chosen first, then the leftmost.
std::vector<Stretch> find_words(std::string_view text, const Offsets& clusters, const Lexicon& lexicon) {
  std::vector<Stretch> found;
  if (lexicon.lengths.empty()) return found;
  const Offsets ends = possible_ends(text, clusters);
  Offsets taken(text.size(), false);
  for (const std::size_t length : lexicon.lengths) {
    for (std::size_t begin = 0, end = length; end <= text.size(); ++begin, ++end) {
      if (!ends[begin] || !ends[end]) continue;
      // A taken word is at least as long as this one, so it cannot lie strictly between its ends.
      if (taken[begin] || taken[end - 1] || !lexicon.words.contains(text.substr(begin, length))) continue;
      std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(begin), length, true);
      found.push_back({begin, end});
    }
  }
  std::sort(found.begin(), found.end(), [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  return found;
}

/// Rule 2.
void cut_out_words_across(Offsets& cuts, const std::vector<Stretch>& words) {
  for (const auto& [begin, end] : words) {
    bool across = false;
    for (std::size_t at = begin + 1; at < end; ++at) {
      across = across || cuts[at];
      cuts[at] = false;
    }
    if (across) cuts[begin] = cuts[end] = true;
  }
}

/// Rule 3. Since rule 2 no word reaches across a boundary.
void cut_filled_pieces(Offsets& cuts, const std::vector<Stretch>& words) {
  for (std::size_t first = 0; first < words.size();) {
    std::size_t last = first;
    while (last + 1 < words.size() && words[last + 1].begin == words[last].end && !cuts[words[last].end]) ++last;
    if (cuts[words[first].begin] && cuts[words[last].end])
      for (std::size_t i = first; i < last; ++i) cuts[words[i].end] = true;
    first = last + 1;
  }
}

/// Rule 4.
void attach_spaces(Offsets& cuts, std::string_view text, const Offsets& clusters) {
  for (std::size_t at = 1; at < text.size(); ++at)
    if (cuts[at] && u_isUWhiteSpace(code_point_before(text, at))) cuts[at] = false;
  const std::size_t tail = trailing_spaces(text);
  if (clusters[tail]) cuts[tail] = true;
}

bool is_kana(UChar32 c) {
  UErrorCode status = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(c, &status);
  return script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA;
}

/// The cuts inside runs of Chinese characters are those of the list.
void cut_chinese_runs(Offsets& cuts, std::string_view text, const LikelyWords& list) {
  const auto is_chinese = [&](std::size_t at) {
    return is_chinese_character(static_cast<char32_t>(code_point_at(text, at)));
  };
  const auto behind = [&](std::size_t at) {
    do ++at;
    while (!is_boundary(text, at));
    return at;
  };
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = behind(begin);
    if (!is_chinese(begin)) {
      begin = end;
      continue;
    }
    while (end < text.size() && is_chinese(end)) end = behind(end);
    const bool japanese = (begin > 0 && is_kana(code_point_before(text, begin))) ||
                          (end < text.size() && is_kana(code_point_at(text, end)));
    if (!japanese) {
      for (std::size_t at = begin + 1; at < end; ++at) cuts[at] = false;
      for (const std::size_t cut : list.cuts(text.substr(begin, end - begin))) cuts[begin + cut] = true;
    }
    begin = end;
  }
}

Offsets word_boundaries(std::string_view text, const Offsets& clusters, const Lexicon& lexicon) {
  Offsets cuts(text.size() + 1, false);
  if (lexicon.likely && lexicon.words.empty()) {
    for (const std::size_t at : lexicon.likely->cuts(text)) cuts[at] = true;
    cuts.front() = cuts.back() = true;
  } else {
    cuts = boundaries(text, UBRK_WORD);
    if (lexicon.likely) cut_chinese_runs(cuts, text, *lexicon.likely);
  }
  for (std::size_t at = 0; at < cuts.size(); ++at) cuts[at] = cuts[at] && clusters[at];
  const std::vector<Stretch> words = find_words(text, clusters, lexicon);
  cut_out_words_across(cuts, words);
  cut_filled_pieces(cuts, words);
  attach_spaces(cuts, text, clusters);
  return cuts;
}

bool is_control_code(char32_t c) { return u_charType(static_cast<UChar32>(c)) == U_CONTROL_CHAR; }

std::shared_ptr<const Vocabulary> vocabulary_of(const Lexicon& lexicon) {
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->words.assign(lexicon.words.begin(), lexicon.words.end());
  std::sort(vocabulary->words.begin(), vocabulary->words.end());
  for (const std::string& word : vocabulary->words) vocabulary->ids.push_back(hashed_id(word));
  return vocabulary;
}

void sort_lengths(Lexicon& lexicon) {
  std::sort(lexicon.lengths.begin(), lexicon.lengths.end(), std::greater<>());
  lexicon.lengths.erase(std::unique(lexicon.lengths.begin(), lexicon.lengths.end()), lexicon.lengths.end());
}

std::string_view without_comment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1))
    if (at == 0 || u_isUWhiteSpace(code_point_before(line, at))) return line.substr(0, at);
  return line;
}

}  // namespace

Result<Lexicon> parse_lexicon(std::string_view where, std::string_view text) {
  TRY(check_utf8(where, text));
  if (text.starts_with("\uFEFF")) text.remove_prefix(std::string_view("\uFEFF").size());
  Lexicon lexicon;
  std::size_t number = 0;
  for (const std::string_view line : split_at('\n', text)) {
    ++number;
    const std::string_view word = trimmed(without_comment(line));
    if (word.empty()) continue;
    const std::vector<char32_t> characters = code_points(word);
    const std::string what = "line " + std::to_string(number);
    if (characters.size() > kLongestLexiconWord)
      return bad_input(where, what, "a word of at most " + std::to_string(kLongestLexiconWord) + " characters",
                       std::to_string(characters.size()));
    if (std::any_of(characters.begin(), characters.end(), is_control_code))
      return bad_input(where, what, "one word", "a control character");
    lexicon.words.emplace(word);
    lexicon.lengths.push_back(word.size());
  }
  sort_lengths(lexicon);
  lexicon.vocabulary = vocabulary_of(lexicon);
  return lexicon;
}

Lexicon lexicon_of(const std::vector<std::string>& words) {
  Lexicon lexicon = with_words({}, words);
  lexicon.vocabulary = vocabulary_of(lexicon);
  return lexicon;
}

Lexicon with_words(Lexicon lexicon, const std::vector<std::string>& more) {
  for (const std::string& word : more) {
    const std::vector<char32_t> characters = code_points(word);
    if (characters.size() > kLongestLexiconWord || std::any_of(characters.begin(), characters.end(), is_control_code))
      continue;
    const std::string_view known = trimmed(word);
    if (known.empty()) continue;
    lexicon.words.emplace(known);
    lexicon.lengths.push_back(known.size());
  }
  sort_lengths(lexicon);
  return lexicon;
}

std::vector<std::size_t> cut_points(std::string_view text, Split split, const Lexicon& lexicon) {
  assert(!first_invalid_utf8(text));
  const Offsets clusters = boundaries(text, UBRK_CHARACTER);
  const Offsets cuts = split == Split::characters ? clusters : word_boundaries(text, clusters, lexicon);
  std::vector<std::size_t> result;
  for (std::size_t at = 1; at < text.size(); ++at)
    if (cuts[at]) result.push_back(at);
  return result;
}

bool is_boundary(std::string_view text, std::size_t offset) {
  return offset == text.size() || (offset < text.size() && (static_cast<unsigned char>(text[offset]) & 0xC0) != 0x80);
}

bool are_cuts(std::string_view text, const std::vector<std::size_t>& cuts) {
  std::size_t before = 0;
  for (const std::size_t cut : cuts) {
    if (cut <= before || cut >= text.size() || !is_boundary(text, cut)) return false;
    before = cut;
  }
  return true;
}

Tokens tokens_between(std::string text, const std::vector<std::size_t>& cuts) {
  assert(are_cuts(text, cuts));
  Tokens result{std::move(text), {}};
  if (result.text.empty()) return result;
  result.tokens.reserve(cuts.size() + 1);
  for (std::size_t i = 0, begin = 0; i <= cuts.size(); ++i) {
    const std::size_t end = i < cuts.size() ? cuts[i] : result.text.size();
    const std::string_view raw = std::string_view(result.text).substr(begin, end - begin);
    const std::size_t spaces = behind_spaces(raw, 0);
    const std::string_view shown = spaces < raw.size() ? raw.substr(spaces) : raw;
    result.tokens.push_back(
        {.id = hashed_id(shown), .text = std::string(shown), .raw = std::string(raw), .begin = begin, .end = end});
    begin = end;
  }
  return result;
}

Result<MarkedText> parse_marked_tokens(std::string_view where, std::string_view marked) {
  TRY(check_utf8(where, marked));
  MarkedText result;
  std::size_t begin = 0;  // of the token being read, in result.text
  const auto token = [&] { return "token " + std::to_string(result.cuts.size() + 1); };
  for (std::size_t at = 0; at < marked.size(); ++at) {
    if (marked[at] == '|') {
      if (result.text.size() == begin)
        return bad_input(where, token(), "at least one character", "none (a bar that is text is written \\|)");
      begin = result.text.size();
      result.cuts.push_back(begin);
      continue;
    }
    if (marked[at] == '\\') {
      ++at;
      if (at == marked.size()) return bad_input(where, token(), "\\| or \\\\", "a backslash at the end");
      if (marked[at] != '|' && marked[at] != '\\') {
        std::size_t end = at + 1;
        while (!is_boundary(marked, end)) ++end;
        return bad_input(where, token(), "\\| or \\\\", marked.substr(at - 1, end - at + 1));
      }
    }
    result.text += marked[at];
  }
  if (result.text.size() == begin)
    return bad_input(where, token(), "at least one character", "none (a bar that is text is written \\|)");
  return result;
}

std::string mark_tokens(std::string_view text, const std::vector<std::size_t>& cuts) {
  assert(are_cuts(text, cuts));
  std::string marked;
  auto cut = cuts.begin();
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (cut != cuts.end() && *cut == at) {
      marked += '|';
      ++cut;
    }
    if (text[at] == '|' || text[at] == '\\') marked += '\\';
    marked += text[at];
  }
  return marked;
}

}  // namespace headlight
