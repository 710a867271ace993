#include "session/loop/errands.h"

namespace headlight {

Errands::Errands(JobThreads& threads, const std::function<void()>& wake, Services services)
    : services_(std::move(services)) {
  Answers::for_each([&](auto slot) { all_.emplace_back(threads, wake, slot); });
}

}  // namespace headlight
