#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace headlight {

void parallel_for(Index count, int threads, const std::function<void(Index)>& part) {
  const Index available = threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
  std::atomic<Index> next = 0;
  const auto work = [&] {
    for (Index i = next++; i < count; i = next++) part(i);
  };
  std::vector<std::jthread> helpers;
  for (Index i = 1; i < std::min(available, count); ++i) helpers.emplace_back(work);
  work();
}

}  // namespace headlight
