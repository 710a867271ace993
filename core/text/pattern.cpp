#include "text/pattern.h"

#include <unicode/uregex.h>

#include <algorithm>

#include "base/index.h"
#include "text/characters.h"

namespace headlight {
namespace {

constexpr std::size_t kMostPattern = 1 << 15;     // bytes of an expression …
constexpr std::size_t kMostTranslated = 1 << 16;  // … and of its translation for ICU
// ICU counts ten thousand saved states as one unit of time.
constexpr std::int32_t kLeastTime = 2000;
constexpr std::size_t kLettersPerTime = 50;
constexpr std::int32_t kMostStack = 64 << 20;

// Of a SearchBudget, in thousandths of ICU's unit: a search takes one before it begins.
constexpr std::int64_t kUnit = 1000;
constexpr std::int64_t kLeastBudget = 4000 * kUnit;
constexpr std::int64_t kBudgetOfLetter = 20;

/// The budget that is left for the text of this thread; nothing where no text was named.
thread_local std::optional<std::int64_t> budget_left;

UBool U_CALLCONV goes_on(const void*, std::int32_t) {
  if (budget_left) *budget_left -= kUnit;
  return !budget_left || *budget_left > 0;
}

/// Adds what lies between the last stretch and `begin`, then the found one. Empty ones at one offset count once.
void add_found(std::vector<Stretch>& stretches, std::size_t begin, std::size_t end) {
  const std::size_t last = stretches.empty() ? 0 : stretches.back().end;
  if (begin == end && !stretches.empty() && stretches.back().found && last == begin) return;
  if (last < begin) stretches.push_back({last, begin, false});
  stretches.push_back({begin, end, true});
}

void find_string(std::u32string_view wanted, LetterSpan letters, std::vector<Stretch>& stretches) {
  if (wanted.empty()) return;
  const auto same = [](const Letter& letter, char32_t code) { return letter.code == code; };
  auto from = letters.begin();
  for (;;) {
    const auto found = std::search(from, letters.end(), wanted.begin(), wanted.end(), same);
    if (found == letters.end()) return;
    from = found + static_cast<std::ptrdiff_t>(wanted.size());
    add_found(stretches, static_cast<std::size_t>(found - letters.begin()),
              static_cast<std::size_t>(from - letters.begin()));
  }
}

}  // namespace

SearchBudget::SearchBudget(std::size_t letters) : is_outer_(!budget_left) {
  constexpr std::size_t kMost = within_memory(std::uint64_t{1} << 40);
  if (is_outer_) budget_left = kLeastBudget + kBudgetOfLetter * static_cast<std::int64_t>(std::min(letters, kMost));
}

SearchBudget::~SearchBudget() {
  if (is_outer_) budget_left.reset();
}

void Finder::Close::operator()(URegularExpression* regex) const { uregex_close(regex); }

Result<Regex> Regex::compile(std::string_view where, std::string_view pattern) {
  if (pattern.size() > kMostPattern)
    return bad_input(where, "regular expression", "at most " + std::to_string(kMostPattern) + " bytes",
                     std::to_string(pattern.size()));
  const std::string translated = icu_expression(pattern);
  if (translated.size() > kMostTranslated)
    return bad_input(where, "regular expression",
                     "at most " + std::to_string(kMostTranslated) + " bytes once translated",
                     std::to_string(translated.size()));
  Utf16 utf16;
  to_utf16(letters_of(translated), utf16);
  UErrorCode error = U_ZERO_ERROR;
  UParseError at{};
  URegularExpression* compiled = uregex_open(utf16.text.data(), static_cast<std::int32_t>(utf16.text.size()),
                                             UREGEX_MULTILINE | UREGEX_UNIX_LINES, &at, &error);
  if (U_FAILURE(error) || !compiled) {
    uregex_close(compiled);
    return bad_input(where, "regular expression", "one that ICU understands",
                     quoted_word(pattern) + " (" + u_errorName(error) + ")");
  }
  Regex regex;
  regex.where_ = where;
  regex.pattern_ = pattern;
  regex.compiled_ = std::shared_ptr<const URegularExpression>(
      compiled, [](const URegularExpression* held) { uregex_close(const_cast<URegularExpression*>(held)); });
  return regex;
}

Status Finder::find_regex(const Regex& regex, LetterSpan letters, std::vector<Stretch>& stretches) {
  UErrorCode error = U_ZERO_ERROR;
  if (!matcher_) {
    matcher_.reset(uregex_clone(regex.compiled_.get(), &error));
    uregex_setStackLimit(matcher_.get(), kMostStack, &error);
    uregex_setMatchCallback(matcher_.get(), goes_on, nullptr, &error);
  }
  if (budget_left && --*budget_left <= 0) error = U_REGEX_TIME_OUT;
  to_utf16(letters, utf16_);
  uregex_setText(matcher_.get(), utf16_.text.data(), static_cast<std::int32_t>(utf16_.text.size()), &error);
  uregex_setTimeLimit(matcher_.get(), kLeastTime + static_cast<std::int32_t>(letters.size() / kLettersPerTime), &error);
  while (U_SUCCESS(error) && uregex_findNext(matcher_.get(), &error)) {
    const auto begin = static_cast<std::size_t>(uregex_start(matcher_.get(), 0, &error));
    const auto end = static_cast<std::size_t>(uregex_end(matcher_.get(), 0, &error));
    add_found(stretches, utf16_.letter_of_unit[begin], utf16_.letter_of_unit[end]);
  }
  if (U_FAILURE(error))
    return bad_input(regex.where_, "regular expression", "an answer in a bounded time and memory",
                     std::string("none for ") + quoted_word(regex.pattern_) + " (" + u_errorName(error) + ")");
  return Done{};
}

Result<std::vector<Stretch>> Finder::find(LetterSpan letters) {
  std::vector<Stretch> stretches;
  if (const auto* wanted = std::get_if<std::u32string>(&pattern_)) find_string(*wanted, letters, stretches);
  else TRY(find_regex(std::get<Regex>(pattern_), letters, stretches));
  const std::size_t last = stretches.empty() ? 0 : stretches.back().end;
  if (last < letters.size()) stretches.push_back({last, letters.size(), false});
  return stretches;
}

}  // namespace headlight
