#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "base/pool.h"

namespace headlight {
namespace {

/// The program's shared pool. A caller that finds it busy starts new threads instead.
struct SharedPool {
  std::mutex taken;
  Pool pool{0};
};

SharedPool& shared_pool() {
  static SharedPool pool;
  return pool;
}

}  // namespace

void share_parts(Index count, const Threads& threads, const std::function<void(Index)>& part) {
  const auto one = [&](Index i) {
    if (!threads.stop || !*threads.stop) part(i);
  };
  SharedPool& shared = shared_pool();
  if (threads.count <= shared.pool.threads()) {
    if (const std::unique_lock free(shared.taken, std::try_to_lock); free)
      return shared.pool.run(
          count, [&](Index i, int) { one(i); }, threads.count);
  }
  const Index all = threads.count > 0 ? threads.count : shared.pool.threads();
  std::atomic<Index> next = 0;
  const auto some = [&] {
    for (Index i = next++; i < count; i = next++) one(i);
  };
  std::vector<std::jthread> helpers;
  for (Index i = 1; i < std::min(all, count); ++i) helpers.emplace_back(some);
  some();
}

}  // namespace headlight
