#include "base/pool.h"

#include <algorithm>

namespace headlight {

Pool::Pool(int threads) {
  const int all = threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (int worker = 1; worker < all; ++worker) helpers_.emplace_back([this, worker] { help(worker); });
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void Pool::take_parts(const std::function<void(Index, int)>& part, Index count, int worker) {
  for (Index i = next_++; i < count; i = next_++) part(i, worker);
}

void Pool::run(Index count, const std::function<void(Index, int)>& part, int most) {
  if (helpers_.empty() || count <= 1 || most == 1) {
    for (Index i = 0; i < count; ++i) part(i, 0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    part_ = &part;
    count_ = count;
    most_ = most > 0 ? most : threads();
    next_ = 0;
    ++round_;
  }
  wake_.notify_all();
  take_parts(part, count, 0);
  // A helper that has not woken by now finds nothing left: only those that took a part are waited for.
  std::unique_lock lock(mutex_);
  part_ = nullptr;
  done_.wait(lock, [this] { return busy_ == 0; });
}

void Pool::help(int worker) {
  std::uint64_t joined = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return ending_ || (part_ && round_ != joined && worker < most_); });
    if (ending_) return;
    joined = round_;
    ++busy_;
    const std::function<void(Index, int)>* part = part_;
    const Index count = count_;
    lock.unlock();
    take_parts(*part, count, worker);
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace headlight
