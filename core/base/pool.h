// Threads that wait for the next call of run(): a product is too short to start threads for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/index.h"

namespace headlight {

class Pool {
 public:
  /// `threads` in all, the caller's among them (0: one for each processor); fewer where the system has no more.
  explicit Pool(int threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const { return static_cast<int>(helpers_.size()) + 1; }

  /// Calls part(i, worker) for i of 0 … count − 1, each once, worker in [0, threads()), and below `most` where that is
  /// not 0; returns when all are done. No two calls with the same worker run at a time. Each worker begins with its
  /// share, the same one in every run of this many parts: what it read for them is still in its caches. After the first
  /// exception of a part no further part begins; the exception is thrown when no part runs any more.
  void run(Index count, const std::function<void(Index, int)>& part, int most = 0);

 private:
  /// The parts that a worker begins with; other workers take from them when theirs are done.
  struct alignas(64) Share {
    std::atomic<Index> next = 0;
    Index end = 0;
  };

  void help(int worker);
  void take_parts(int worker);
  template <class Done>
  void wait_until(const Done& done);
  void wake();

  // The current call of run(): changed only while no helper is inside.
  const std::function<void(Index, int)>* part_ = nullptr;
  int workers_ = 0;
  std::unique_ptr<Share[]> shares_;
  std::atomic<unsigned> round_ = 0;  // odd while there is work that helpers may join
  std::atomic<int> inside_ = 0;      // helpers that may be in the round
  std::atomic<bool> ending_ = false;
  std::condition_variable changed_;  // round_ or inside_; with mutex_
  std::atomic<int> sleepers_ = 0;
  std::atomic<bool> failed_ = false;  // a part of this round threw …
  std::exception_ptr failure_;        // … this; guarded by mutex_
  std::mutex mutex_;
  std::vector<std::thread> helpers_;
};

}  // namespace headlight
