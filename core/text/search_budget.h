// The time that all regular expressions of a tokenizer together may take for one text.
#pragma once

#include <cstddef>

namespace headlight {

/// While it lives, the searches of text/pattern.h on this thread share one budget: as rules and pieces are many, a bound on
/// each search is none on their sum. What exceeds it is an Error of the search. One inside another counts for nothing.
class SearchBudget {
 public:
  /// `letters` of the text: a long text is given more time.
  explicit SearchBudget(std::size_t letters);
  ~SearchBudget();
  SearchBudget(const SearchBudget&) = delete;

 private:
  bool is_outer_ = false;
};

}  // namespace headlight
