#include "gl/quit_signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

namespace headlight {
namespace {

constexpr int kSignals[] = {SIGTERM, SIGHUP, SIGINT};
constexpr char kSignal = 's', kEnd = 'e';

/// Where the handler writes: a handler can be given nothing else.
std::atomic<int> write_end = -1;

void notify(char what) {
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(write_end, &what, 1);
  errno = error;
}

void on_signal(int) { notify(kSignal); }

}  // namespace

struct QuitSignals::Watch {
  int pipe[2] = {-1, -1};  // from the handler to the thread
  std::thread thread;
};

QuitSignals::QuitSignals(std::function<void()> wake) : watch_(new Watch) {
  if (::pipe(watch_->pipe) != 0) return;  // then a signal ends the program, as without this class
  for (const int end : watch_->pipe) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  write_end = watch_->pipe[1];
  watch_->thread = std::thread([this, wake = std::move(wake)] {
    char what = 0;
    for (;;) {
      const auto count = ::read(watch_->pipe[0], &what, 1);
      if (count < 0 && errno == EINTR) continue;
      if (count != 1 || what == kEnd) return;
      asked_ = true;
      wake();
    }
  });
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (const int signal : kSignals) ::sigaction(signal, &action, nullptr);
}

QuitSignals::~QuitSignals() {
  if (!watch_->thread.joinable()) return;
  for (const int signal : kSignals) ::signal(signal, SIG_DFL);
  notify(kEnd);
  watch_->thread.join();
  write_end = -1;
  for (const int end : watch_->pipe) ::close(end);
}

}  // namespace headlight
