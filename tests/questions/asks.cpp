// Answers command lines in one process. Each line of standard input is a JSON array: a folder, which is the working
// folder from then on, what the command finds on its standard input, and its words. The answer is a line `STATUS BYTES
// BYTES` and so many bytes of standard output and of standard error.
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "app/program.h"
#include "base/system.h"

int main() {
  using namespace headlight;
  begin_program();
  std::FILE* const answers = fdopen(dup(STDOUT_FILENO), "w");
  for (std::string line; std::getline(std::cin, line);) {
    const program::Strings asked = nlohmann::json::parse(line);
    if (chdir(asked[0].c_str()) != 0) return 1;
    const program::Ran ran = program::run({asked.begin() + 2, asked.end()}, asked[1]);
    std::fprintf(answers, "%d %zu %zu\n", ran.status, ran.out.size(), ran.err.size());
    for (const std::string* text : {&ran.out, &ran.err}) std::fwrite(text->data(), 1, text->size(), answers);
    std::fflush(answers);
  }
}
