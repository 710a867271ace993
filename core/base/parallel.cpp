#include "base/parallel.h"

#include <algorithm>
#include <mutex>

#include "base/pool.h"
#include "base/system.h"

namespace headlight {
namespace {

/// The program's shared pool. A caller that finds it busy starts another pool.
struct SharedPool {
  std::mutex taken;
  Pool pool{0};
};

/// It ends with the process that made it. One that was forked has none of its threads, and must not wait for them.
struct PoolOfProcess {
  SharedPool* pool = new SharedPool;
  int process = process_number();

  ~PoolOfProcess() {
    if (process == process_number()) delete pool;
  }
};

SharedPool& shared_pool() {
  static const PoolOfProcess held;
  return *held.pool;
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
  Pool own(static_cast<int>(std::min(all, count)));
  own.run(count, [&](Index i, int) { one(i); });
}

}  // namespace headlight
