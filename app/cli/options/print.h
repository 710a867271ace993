// The output of a command: results on standard output, messages on standard error.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/result.h"

namespace headlight {

/// Prints the result of a command; gives the exit status, or the Error of a closed pipe.
Result<int> print(std::string_view text, int status = 0);

/// Prints a line on standard error. Control characters are escaped: text of a file must not control the terminal.
void print_message(std::string_view message);

/// Prints each warning as a line on standard error; the command goes on.
void print_warnings(const std::vector<Error>& warnings);

/// Prints on standard error how far a long computation is and how long it will still take, from its third second on: on
/// a terminal in one line that is written over, else a line every half minute.
class ProgressReport {
 public:
  ProgressReport(std::string what, const Progress& progress);
  ~ProgressReport();
  ProgressReport(const ProgressReport&) = delete;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// A word from outside in a table for people: a line break becomes ⏎, anything else that a terminal would obey ?.
std::string word_in_table(std::string_view word);

}  // namespace headlight
