// The workers that fill the slots of session/answers.h. A question is asked once; a newer one replaces it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <typeinfo>
#include <vector>

#include "session/loop/worker.h"
#include "session/state.h"
#include "session/typing.h"

namespace headlight {

/// One slot with its worker.
class Errand {
 public:
  template <class Host, class SlotType>
  Errand(JobThreads& threads, const std::function<void()>& wake, SlotType Host::*slot)
      : type_(&typeid(SlotType)),
        worker_(std::make_unique<Worker>(threads, wake)),
        ask_([slot, asked = std::optional<typename SlotType::Question>()](
                 const AppState& state, const Services& services, Worker& worker) mutable {
          auto question = wanted_question<SlotType::kQuestionOf>(state, services);
          if (question && (host_of<Host>(state).*slot).knows(*question)) question = {};
          if (question && asked && *asked == *question) return;
          if (!question) {
            if (asked) worker.cancel();
            asked.reset();
            return;
          }
          asked = *question;
          worker.post(job_of(slot, *asked, state, services));
        }) {}

  /// Posts what the state wants and was not asked yet; what it wants no more is stopped.
  void ask(const AppState& state, const Services& services) { ask_(state, services, *worker_); }

  Worker& worker() const { return *worker_; }
  const std::type_info& type() const { return *type_; }  // of its slot

 private:
  const std::type_info* type_;
  std::unique_ptr<Worker> worker_;
  std::function<void(const AppState&, const Services&, Worker&)> ask_;  // holds what was asked last
};

/// One for each slot of `Answers`, and behind these for each of the tools.
class Errands {
 public:
  Errands(JobThreads& threads, const std::function<void()>& wake, Services services);

  /// A text that is being typed waits until it rests: the last answer stays.
  void ask(const AppState& state) {
    const bool typing = is_typing(state);
    for (Errand& errand : all_)
      if (!typing || errand.type() != typeid(decltype(Answers::trace))) errand.ask(state, services_);
  }

  template <class SlotType>
  const Worker& worker(SlotType Answers::*) const {
    for (const Errand& errand : all_)
      if (errand.type() == typeid(SlotType)) return errand.worker();
    std::abort();
  }
  /// In the order in which their answers are taken.
  const std::vector<Errand>& all() const { return all_; }
  std::size_t count_of_viewer() const { return count_of_viewer_; }

 private:
  Services services_;
  std::vector<Errand> all_;
  std::size_t count_of_viewer_ = 0;
};

}  // namespace headlight
