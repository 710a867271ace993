#include "cli/options/print.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

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

struct ProgressReport::State {
  std::mutex mutex;
  std::condition_variable ends;
  bool ended = false;
  std::thread thread;

  void report(const std::string& what, const Progress& progress) {
    using Clock = std::chrono::steady_clock;
    const bool terminal = isatty(STDERR_FILENO) != 0;
    const auto begin = Clock::now();
    bool printed = false;
    std::unique_lock lock(mutex);
    for (int next = 3; !ends.wait_until(lock, begin + std::chrono::seconds(next), [&] { return ended; });
         next += terminal ? 1 : 30) {
      const double done = static_cast<double>(progress.done);
      const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
      if (done <= 0) continue;
      std::fprintf(stderr, "%s%s: %.0f %%, %.0f s left%s", terminal ? "\r" : "", what.c_str(), 100 * done,
                   spent * (1 - done) / done, terminal ? "   " : "\n");
      printed = true;
    }
    if (printed && terminal) std::fprintf(stderr, "\n");
  }
};

ProgressReport::ProgressReport(std::string what, const Progress& progress) : state_(std::make_shared<State>()) {
  state_->thread =
      std::thread([state = state_.get(), what = std::move(what), &progress] { state->report(what, progress); });
}

ProgressReport::~ProgressReport() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ended = true;
  }
  state_->ends.notify_all();
  state_->thread.join();
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
