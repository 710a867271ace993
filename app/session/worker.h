// One thread that computes one thing at a time. A later job replaces one that waits; a running one that nobody wants
// any more is stopped, but not at once: with edits a few milliseconds apart, stopping at each of them would never show
// a picture.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "math/forward.h"
#include "session/command.h"

namespace headlight {

/// Runs on the worker's thread; nothing comes back from a job that was stopped.
using Job = std::function<std::optional<Command>(Progress&)>;

/// How long a running job may go on once another waits.
inline constexpr std::chrono::milliseconds kPatience{100};

class Worker {
 public:
  /// `wake` is called from the worker's thread whenever an answer is ready.
  explicit Worker(std::function<void()> wake);
  ~Worker();  // stops what runs and waits for it
  Worker(const Worker&) = delete;

  /// Replaces the job that waits, if one does.
  void post(Job job);
  /// Forgets the waiting job and stops the running one.
  void cancel();
  /// The answers since the last call; also stops a running job whose patience is over.
  std::vector<Command> take();
  /// Whether a job runs or waits, or an answer was not taken yet.
  bool busy() const;
  /// 0 … 1 of the running job.
  float progress() const;
  /// Blocks until nothing runs and nothing waits, or so many seconds are over.
  void wait() const;
  void wait(double seconds) const;

 private:
  void run();

  std::function<void()> wake_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::optional<Job> waiting_;
  std::shared_ptr<Progress> running_;  // null: nothing runs
  std::chrono::steady_clock::time_point started_{};
  std::vector<Command> answers_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace headlight
