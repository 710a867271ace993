// Options of a question, one word a line: they give a question that its own words ask again, or one line.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/request_options.h"
#include "fuzz/require.h"
#include "fuzz/target.h"
#include "models/asking.h"

namespace {

using namespace headlight;

constexpr std::size_t kMostWords = 64;

/// Paths, standard input and names of what is on the disk are left out: files have targets of their own.
std::vector<std::string> words_of(std::string_view bytes) {
  std::vector<std::string> words;
  while (!bytes.empty() && words.size() < kMostWords) {
    const std::string_view word = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(bytes.size(), word.size() + 1));
    if (word.find_first_of("/~\\") == word.npos && word != "-" && word != "." && word != ".." &&
        word.find('\0') == word.npos)
      words.emplace_back(word);
  }
  return words;
}

Result<Asked> asked_by(std::vector<std::string> words) {
  Parser command("headlight");
  const RequestOptions options(command);
  if (const auto parsed = command.parse(std::move(words)); !parsed) return parsed.error();
  return options.ask();
}

}  // namespace

HEADLIGHT_FUZZ_TARGET(question) {
  const auto asked = asked_by(words_of({reinterpret_cast<const char*>(data), size}));
  if (!asked) return require_line(asked.error().message());
  for (const Error& warning : asked->start.warnings) require_line(warning.message());
  const auto words = request_words(asked->document());
  if (!words) return require_line(words.error().message());
  const auto again = asked_by(*words);
  require(again && again->requests.size() == asked->requests.size());
  for (std::size_t i = 0; i < again->requests.size(); ++i) {
    // A model that is read a second time is another value in memory.
    Request request = again->requests[i];
    request.model = asked->requests[i].model;
    request.vocabulary = asked->requests[i].vocabulary;
    require(request == asked->requests[i]);
  }
}
