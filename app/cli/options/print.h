// The output of a command: results on standard output, messages on standard error.
#pragma once

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/progress.h"
#include "base/result.h"

namespace headlight {

/// Prints the result of a command; gives the exit status, or the Error of a closed pipe.
Result<int> print(std::string_view text, int status = 0);

/// Prints a line on standard error. Control characters are escaped: text of a file must not control the terminal. A
/// word of more than 80 bytes that is no path is cut.
void print_message(std::string_view message);

/// Prints what ended a command; with HEADLIGHT_ERRORS=json in the environment as `{"error", "code"}`.
void print_error(const Error& error);

/// Prints each warning as a line on standard error; the command goes on.
void print_warnings(const std::vector<Error>& warnings);

/// Whether results appear on a terminal as they are printed.
bool prints_on_terminal();

/// Prints on standard error how long a computation has run, and with its Progress how far it is and how long it will
/// still take, from its first second on: on a terminal in one line that is written over, else a line every half minute.
/// Of several only the innermost prints; one of nothing is silent, beside what prints as it goes. With
/// HEADLIGHT_PROGRESS=0 in the environment none does.
class ProgressReport {
 public:
  explicit ProgressReport(std::string what, const Progress* progress = nullptr);
  ~ProgressReport();
  ProgressReport(const ProgressReport&) = delete;

 private:
  std::jthread thread_;
};

/// A word from outside in a table for people: a line break becomes ⏎, anything else that a terminal would obey ?.
std::string word_in_table(std::string_view word);

}  // namespace headlight
