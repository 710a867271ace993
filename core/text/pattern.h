// A pattern that a tokenizer searches in a text: a string, or a regular expression with a bound on its time and memory.
#pragma once

struct URegularExpression;

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "text/normalized_text.h"

namespace headlight {

/// Letters [begin, end) of a piece, and whether the pattern was found there.
struct Stretch {
  std::size_t begin = 0, end = 0;
  bool found = false;
};

class Regex {
 public:
  /// Oniguruma's syntax (icu_expression), at most 32 KiB.
  static Result<Regex> compile(std::string_view where, std::string_view pattern);

 private:
  friend class Finder;
  std::string where_, pattern_;
  std::shared_ptr<const URegularExpression> compiled_;
};

using Pattern = std::variant<std::u32string, Regex>;

/// Looks for one pattern in many pieces. For one thread; the pattern may be shared.
class Finder {
 public:
  explicit Finder(const Pattern& pattern) : pattern_(pattern) {}

  /// The piece as stretches that were found and those between, in order, leaving out no letter. What is found may be
  /// empty, but not right behind the match before. An expression whose search takes unreasonably long, or needs
  /// unreasonably much memory, is an Error; a long text is given more time.
  Result<std::vector<Stretch>> find(LetterSpan letters);

 private:
  Status find_regex(const Regex& regex, LetterSpan letters, std::vector<Stretch>& stretches);

  struct Close {
    void operator()(URegularExpression* regex) const;
  };
  const Pattern& pattern_;
  std::unique_ptr<URegularExpression, Close> matcher_;
  Utf16 utf16_;
};

/// In its lifetime, the searches on this thread share one budget: a bound on each search does not bound the sum over
/// many rules and pieces. What exceeds it is an Error of the search. A budget inside another one has no effect.
class SearchBudget {
 public:
  /// `letters` of the text: a long text is given more time.
  explicit SearchBudget(std::size_t letters);
  ~SearchBudget();
  SearchBudget(const SearchBudget&) = delete;

 private:
  bool is_outer_ = false;
};

/// An expression that ICU (with lines ending in \n alone, and ^ and $ at every line) matches as Oniguruma matches
/// `pattern` in its Ruby syntax over Unicode: \s is White_Space; \w has no joiners, and outside sets ² ³ ¹ ¼ ½ ¾; \b
/// sees marks as part of a word; \h is a hexadecimal digit; (?m) lets a dot match \n; `x{1,3}+` repeats x{1,3}; braces
/// that count nothing are characters. What neither knows is refused by ICU.
/// https://github.com/kkos/oniguruma/blob/master/doc/RE
std::string icu_expression(std::string_view pattern);

}  // namespace headlight
