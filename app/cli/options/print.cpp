#include "cli/options/print.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>

#include "base/file.h"
#include "base/formatted.h"
#include "base/refusal.h"
#include "base/system.h"
#include "base/utf8.h"
#include "write/json.h"

namespace headlight {

namespace {

std::atomic<int> reports = 0;            // of progress, one within another
std::atomic<bool> line_is_open = false;  // of progress, on a terminal

void end_open_line() {
  if (line_is_open.exchange(false)) std::fprintf(stderr, "\n");
}

/// A message with each word, but for paths, cut behind 80 bytes: what was given is not repeated whole.
std::string with_short_words(std::string_view message) {
  constexpr std::size_t kLongest = 80;
  std::string text;
  for (const std::string_view word : split_at(' ', message)) {
    const bool is_long = word.size() > kLongest && word.find('/') == word.npos;
    text.append(word.data() == message.data() ? "" : " ");
    text.append(is_long ? beginning(word, kLongest) : word).append(is_long ? "…" : "");
  }
  return text;
}

}  // namespace

Result<int> print(std::string_view text, int status) {
  end_open_line();
  Output output = Output::to_standard_output();
  output.write(text);
  TRY(output.commit());
  return status;
}

void print_message(std::string_view message) {
  const std::string line = printable_message(with_short_words(message));
  if (Confines* const set = confines.load()) {
    const std::scoped_lock lock(set->mutex);
    return set->messages.push_back(line);
  }
  end_open_line();
  std::fprintf(stderr, "%s\n", line.c_str());
}

void print_error(const Error& error) {
  const char* wanted = environment("HEADLIGHT_ERRORS");
  if (!wanted || std::string_view(wanted) != "json") return print_message(error.message());
  end_open_line();
  const std::string line = json_string(printable_message(with_short_words(error.message())));
  std::fprintf(stderr, "{\"error\":%s,\"code\":\"%s\"}\n", line.c_str(), std::string(name(error.code)).c_str());
}

bool prints_on_terminal() { return isatty(STDOUT_FILENO) != 0; }

ProgressReport::ProgressReport(std::string what, const Progress* progress) {
  const char* wanted = environment("HEADLIGHT_PROGRESS");
  const int level = ++reports;
  if (what.empty() || (wanted && std::string_view(wanted) == "0")) return;
  thread_ = std::jthread([what = std::move(what), progress, level](const std::stop_token& ended) {
    using Clock = std::chrono::steady_clock;
    const bool terminal = isatty(STDERR_FILENO) != 0;
    const auto begin = Clock::now();
    std::mutex mutex;
    std::condition_variable_any wakes;
    std::unique_lock lock(mutex);
    for (int next = 1;
         !wakes.wait_until(lock, ended, begin + std::chrono::seconds(next), [&] { return ended.stop_requested(); });
         next += terminal ? 1 : 30) {
      if (level != reports) continue;
      const double done = progress ? static_cast<double>(progress->done) : 0;
      const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
      const std::string far = done > 0 ? formatted("%.0f %%, %.0f s left", 100 * done, spent * (1 - done) / done)
                                       : formatted("%.0f s", spent);
      std::fprintf(stderr, terminal ? "\r%s: %s   " : "%s: %s\n", what.c_str(), far.c_str());
      line_is_open = terminal;
    }
  });
}

ProgressReport::~ProgressReport() {
  thread_ = {};  // ends it
  --reports;
  end_open_line();
}

std::string word_in_table(std::string_view word) {
  std::string shown;
  for (const char c : word) c == '\n' ? shown += "⏎" : shown += c;
  return printable_message(shown);
}

void print_warnings(const std::vector<Error>& warnings) {
  for (const Error& warning : warnings) print_message("warning: " + warning.message());
}

}  // namespace headlight
