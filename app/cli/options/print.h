// The output of a command: results on standard output, messages on standard error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headlight {

/// Prints the result of a command; gives the exit status, or the Error of a closed pipe.
Result<int> print(std::string_view text, int status = 0);

/// Prints a line on standard error. Control characters are escaped: text of a file must not control the terminal.
void print_message(std::string_view message);

/// Prints each warning as a line on standard error; the command goes on.
void print_warnings(const std::vector<Error>& warnings);

/// A word from outside in a table for people: a line break is ⏎, and whatever else a terminal would obey is ?.
std::string word_in_table(std::string_view word);

}  // namespace headlight
