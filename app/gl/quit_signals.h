// SIGTERM, SIGHUP and SIGINT (a logout, kill, Ctrl C), and of Windows a console that is closed and a log-off, end the
// window as its close button does, so that what was typed is kept.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

namespace headlight {

/// At most one at a time. A second signal of the same kind ends the program at once.
class QuitSignals {
 public:
  /// `wake` is called from another thread when a signal has come.
  explicit QuitSignals(std::function<void()> wake);
  ~QuitSignals();
  QuitSignals(const QuitSignals&) = delete;

  /// Whether a signal has come since the last call.
  bool take() { return asked_.exchange(false); }

 private:
  struct Watch;
  std::atomic<bool> asked_ = false;
  std::unique_ptr<Watch> watch_;
};

}  // namespace headlight
