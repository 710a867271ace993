// SIGTERM, SIGHUP and SIGINT (a logout, kill, Ctrl C) end the window as its close button does, so that what was typed
// is kept.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

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
  std::atomic<bool> asked_ = false;
  int pipe_[2] = {-1, -1};  // from the handler to the thread
  std::thread thread_;
};

}  // namespace headlight
