#include "base/pool.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/refusal.h"

namespace headlight {
namespace {

/// How long a thread spins before it blocks: products follow one another closely, and waking a thread takes longer than
/// a short product.
constexpr std::chrono::microseconds kAwake{100};

/// A pause of the spin loop: the other hardware thread of the core may run.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

// Spins, then sleeps, until done(). A sleeper counts itself before its last test, and wake() looks for sleepers after
// the change that they wait for: one of the two sees the other. GCC 12's std::atomic::wait misses changes on Windows.
template <class Done>
void Pool::wait_until(const Done& done) {
  const auto asleep = std::chrono::steady_clock::now() + kAwake;
  do {
    if (done()) return;
    pause();
  } while (std::chrono::steady_clock::now() < asleep);
  std::unique_lock lock(mutex_);
  ++sleepers_;
  changed_.wait(lock, done);
  --sleepers_;
}

void Pool::wake() {
  if (sleepers_ == 0) return;
  std::unique_lock(mutex_).unlock();  // a sleeper whose last test came before the change waits by now
  changed_.notify_all();
}

Pool::Pool(int threads) {
  const int all = threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  shares_ = std::make_unique<Share[]>(static_cast<std::size_t>(all));
  helpers_.reserve(static_cast<std::size_t>(all - 1));
  try {
    for (int worker = 1; worker < all && !is_refused(SystemCall::thread); ++worker)
      helpers_.emplace_back([this, worker] { help(worker); });
  } catch (const std::exception&) {}  // the system has no more threads or memory for them: those there are suffice
}

Pool::~Pool() {
  ending_ = true;
  round_ += 2;
  wake();
  for (std::thread& helper : helpers_) helper.join();
}

void Pool::take_parts(int worker) {
  for (int i = 0; i < workers_; ++i) {
    Share& share = shares_[static_cast<std::size_t>((worker + i) % workers_)];
    for (Index part = share.next++; part < share.end && !failed_; part = share.next++) {
      try {
        (*part_)(part, worker);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failed_.exchange(true)) failure_ = std::current_exception();
      }
    }
  }
}

void Pool::run(Index count, const std::function<void(Index, int)>& part, int most) {
  if (helpers_.empty() || count <= 1 || most == 1) {
    for (Index i = 0; i < count; ++i) part(i, 0);
    return;
  }
  part_ = &part;
  workers_ = most > 0 ? std::min(most, threads()) : threads();
  for (int worker = 0; worker < workers_; ++worker) {
    Share& share = shares_[static_cast<std::size_t>(worker)];
    share.next = count * worker / workers_;
    share.end = count * (worker + 1) / workers_;
  }
  ++round_;
  wake();
  take_parts(0);
  // The round is even again, so no helper joins any more: wait only for those that are inside.
  ++round_;
  wait_until([this] { return inside_ == 0; });
  if (failed_.exchange(false)) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Pool::help(int worker) {
  unsigned round = 0;
  while (true) {
    wait_until([this, round] { return round_ != round; });
    round = round_;
    if (ending_) return;
    if (round % 2 == 0) continue;
    ++inside_;
    if (round_ == round && worker < workers_) take_parts(worker);
    if (--inside_ == 0) wake();
  }
}

}  // namespace headlight
