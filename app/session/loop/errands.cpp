#include "session/loop/errands.h"

namespace headlight {

template <class Host, class SlotType>
Errand::Errand(JobThreads& threads, const std::function<void()>& wake, SlotType Host::*slot)
    : type_(&typeid(SlotType)),
      worker_(std::make_unique<Worker>(threads, wake)),
      ask_([slot, asked = std::optional<typename SlotType::Question>()](const AppState& state, const Services& services,
                                                                        Worker& worker) mutable {
        auto question = wanted_question<SlotType::kQuestionOf>(state, services);
        if (question && (static_cast<const Host&>(state).*slot).knows(*question)) question = {};
        if (question && asked && *asked == *question) return;
        if (!question) {
          if (asked) worker.cancel();
          asked.reset();
          return;
        }
        asked = *question;
        worker.post(job_of(slot, *asked, state, services));
      }) {}

Errands::Errands(JobThreads& threads, const std::function<void()>& wake, Services services)
    : services_(std::move(services)) {
  Answers::for_each([&](auto slot) { all_.emplace_back(threads, wake, slot); });
}

}  // namespace headlight
