#include "cli/options/print.h"

#include <cstdio>

#include "base/file.h"
#include "base/printable.h"

namespace headlight {

Result<int> print(std::string_view text, int status) {
  Output output = Output::to_standard_output();
  output.write(text);
  if (const Status written = output.commit(); !written) return written.error();
  return status;
}

void print_message(std::string_view message) { std::fprintf(stderr, "%s\n", printable_message(message).c_str()); }

std::string word_in_table(std::string_view word) {
  std::string shown;
  for (const char c : word) c == '\n' ? shown += "⏎" : shown += c;
  return printable_message(shown);
}

void print_warnings(const std::vector<Error>& warnings) {
  for (const Error& warning : warnings) print_message("warning: " + warning.message());
}

}  // namespace headlight
