#include "mcp/own_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system.h"

namespace headlight {
namespace {

constexpr int kAsked = 100;  // milliseconds

/// Of the process that was begun: its result, behind it one byte that says that this is all.
[[noreturn]] void write_result(const std::string& result, int to) {
  const std::string all = result + '\n';
  for (std::size_t at = 0; at < all.size();) {
    const std::ptrdiff_t wrote = write_some(to, all.data() + at, all.size() - at);
    if (wrote < 0) ::_exit(1);
    at += static_cast<std::size_t>(wrote);
  }
  ::_exit(0);
}

}  // namespace

OwnProcess in_own_process(const std::function<std::string()>& work, const std::function<bool()>& goes_on) {
  int ends[2];
  if (::pipe(ends) != 0) return {.failed = true};
  const pid_t process = ::fork();
  if (process == 0) {
    close_file(ends[0]);
    write_result(work(), ends[1]);
  }
  close_file(ends[1]);
  OwnProcess own{.result = "", .failed = process < 0};
  bool ended = process < 0;
  while (!ended && own.result) {
    pollfd waiting{.fd = ends[0], .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, kAsked) > 0) {
      char bytes[1 << 16];
      const std::ptrdiff_t count = read_some(ends[0], bytes, sizeof bytes);
      ended = count <= 0;
      if (!ended) own.result->append(bytes, static_cast<std::size_t>(count));
    } else if (!goes_on()) {
      ::kill(process, SIGKILL);
      own.result.reset();
    }
  }
  close_file(ends[0]);
  if (process > 0) ::waitpid(process, nullptr, 0);
  if (!own.result) return own;
  own.failed = !own.result->ends_with('\n');
  if (!own.failed) own.result->pop_back();
  return own;
}

}  // namespace headlight
