// Jobs that run beside the window. A Worker runs one job at a time; a later job replaces one that waits. A running job
// that is no longer wanted is stopped, but not at once: with edits a few milliseconds apart, stopping at each of them
// would never show a picture.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/progress.h"
#include "session/command.h"

namespace headlight {

/// How long a running job may go on once another waits.
inline constexpr std::chrono::milliseconds kPatience{100};

/// The threads that workers share. A thread is started where none is idle, and kept: there are as many as jobs ever ran
/// at the same time, so no job waits for another worker's.
class JobThreads {
 public:
  JobThreads() = default;
  ~JobThreads();  // waits for every task
  JobThreads(const JobThreads&) = delete;

  void run(std::function<void()> task);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  // not begun
  std::size_t idle_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

class Worker {
 public:
  /// `wake` is called from another thread whenever an answer is ready. `threads` must live longer.
  Worker(JobThreads& threads, std::function<void()> wake);
  ~Worker();  // stops what runs and waits for it
  Worker(const Worker&) = delete;

  /// Replaces the job that waits, if there is one.
  void post(Job job);
  /// Forgets the waiting job and stops the running one.
  void cancel();
  /// Stops the running job. A waiting job begins with its Progress stopped, and so gives an answer too.
  void stop();
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
  /// Runs jobs until none waits.
  void run();

  JobThreads& threads_;
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::optional<Job> waiting_;
  bool begins_stopped_ = false;        // whether the Progress of waiting_ is stopped before it begins
  std::shared_ptr<Progress> running_;  // null: nothing runs
  std::chrono::steady_clock::time_point started_{};
  std::vector<Command> answers_;
  bool has_thread_ = false;  // run() goes on, or is about to begin
};

}  // namespace headlight
