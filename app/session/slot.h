// One analysis of the state: what is asked, and the last answer that a worker gave. A slot names the function that
// finds the question in the state and the function that answers it; asking, taking the answer and errors are the same
// for all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/progress.h"
#include "base/result.h"
#include "session/command.h"

namespace headlight {

struct AppState;
struct Services;  // session/answers.h

/// The question in the state: an optional, or a pointer into the state; empty where there is none.
template <auto question_of>
auto wanted_question(const AppState& state, const Services& services) {
  if constexpr (std::is_invocable_v<decltype(question_of), const AppState&>) return question_of(state);
  else return question_of(state, services);
}

/// `question_of` is wanted_question's. `answer_to` gives a shared_ptr<const Answer>, which is null when stopped, or a
/// Result of one. It takes the question, perhaps the last answer (a pointer, whose results may be reused), and the
/// Progress or its `stop`. A function that needs more of the state takes (question, state) or (question, state,
/// services), and gives a Job. `after` runs once an answer was taken or an error noted: after(state, the answer before,
/// the error or null).
template <class AnswerType, auto question_of, auto answer_to, auto after = nullptr>
class Slot {
 public:
  using Answer = AnswerType;
  using Pointer = std::shared_ptr<const Answer>;
  using Question = std::remove_cvref_t<decltype(*wanted_question<question_of>(std::declval<const AppState&>(),
                                                                              std::declval<const Services&>()))>;
  static constexpr auto kQuestionOf = question_of, kAnswerTo = answer_to, kAfter = after;

  /// The last answer, perhaps to an earlier question; null before the first.
  const Pointer& answer() const { return answer_; }
  operator const Pointer&() const { return answer_; }
  explicit operator bool() const { return answer_ != nullptr; }
  const Answer* get() const { return answer_.get(); }
  const Answer& operator*() const { return *answer_; }
  const Answer* operator->() const { return answer_.get(); }
  friend bool operator==(const Slot& a, const Slot& b) { return a.answer_ == b.answer_; }
  friend bool operator==(const Slot& a, const Pointer& b) { return a.answer_ == b; }
  friend bool operator==(const Slot& a, std::nullptr_t) { return a.answer_ == nullptr; }

  /// The question of the last answer.
  const std::optional<Question>& question() const { return question_; }
  /// The answer to this question; null where the last answer is to another.
  const Answer* to(const Question& question) const {
    return answer_ && question_ == question ? answer_.get() : nullptr;
  }
  /// Why this question has no answer; null where it has one, or was not asked.
  const Error* error_of(const Question& question) const { return failed_ == question ? &*error_ : nullptr; }
  /// Whether it was answered, or could not be: then it is not asked again.
  bool knows(const Question& question) const { return to(question) || error_of(question); }
  /// Counts answers.
  std::uint64_t version() const { return version_; }
  /// How long the last answer took; 0 where nothing measured it.
  double milliseconds = 0;

  void put(Question question, Pointer answer) {
    question_ = std::move(question);
    answer_ = std::move(answer);
    failed_.reset();
    ++version_;
  }
  /// The last answer stays, as that of an earlier question.
  void fail(Question question, Error error) {
    failed_ = std::move(question);
    error_ = std::move(error);
  }
  void reset() {
    question_.reset();
    answer_.reset();
    failed_.reset();
  }

 private:
  std::optional<Question> question_, failed_;
  Pointer answer_;
  std::optional<Error> error_;  // of failed_
  std::uint64_t version_ = 0;
};

/// The state where it has the slot; of a tool's slot the part of the state (session/parts.h).
template <class Host, class State>
auto& host_of(State& state) {
  using Wanted = std::conditional_t<std::is_const_v<State>, const Host, Host>;
  if constexpr (std::is_base_of_v<Host, State> || std::is_base_of_v<State, Host>) return static_cast<Wanted&>(state);
  else return state.parts.template get<Host>();
}

/// Takes an answer or an error into its slot, and then those beside it. An answer to another question is dropped where
/// the current one is answered already.
template <class Host, class SlotType>
bool take(AppState& state, SlotType Host::*member, const typename SlotType::Question& question,
          const Result<typename SlotType::Pointer>& answer, double milliseconds, const std::vector<Answered>& beside) {
  SlotType& slot = host_of<Host>(state).*member;
  if constexpr (std::is_invocable_v<decltype(SlotType::kQuestionOf), const AppState&>)
    if (const auto wanted = SlotType::kQuestionOf(state); wanted && slot.to(*wanted) && !(*wanted == question))
      return false;
  const typename SlotType::Pointer before = slot.answer();
  if (answer) slot.put(question, *answer);
  else slot.fail(question, answer.error());
  slot.milliseconds = milliseconds;
  for (const Answered& other : beside) other.take(state);
  if constexpr (!std::is_null_pointer_v<decltype(SlotType::kAfter)>)
    SlotType::kAfter(state, before, answer ? nullptr : &answer.error());
  return true;
}

/// The command that brings an answer, or why there is none, to its slot. `beside`: answers of other slots that were
/// found on the way, taken where this one is.
template <class Host, class SlotType>
Answered reply(SlotType Host::*slot, typename SlotType::Question question, Result<typename SlotType::Pointer> answer,
               double milliseconds = 0, std::vector<Answered> beside = {}) {
  return {[slot, question = std::move(question), answer = std::move(answer), milliseconds,
           beside = std::move(beside)](AppState& state) { take(state, slot, question, answer, milliseconds, beside); }};
}

/// The job that answers a question.
template <class Host, class SlotType>
Job job_of(SlotType Host::*slot, const typename SlotType::Question& question, const AppState& state,
           const Services& services) {
  using Function = decltype(SlotType::kAnswerTo);
  using Question = typename SlotType::Question;
  constexpr Function answer_to = SlotType::kAnswerTo;
  if constexpr (std::is_invocable_v<Function, const Question&, const AppState&, const Services&>) {
    return answer_to(question, state, services);
  } else if constexpr (std::is_invocable_v<Function, const Question&, const AppState&>) {
    return answer_to(question, state);
  } else {
    return
        [slot, question, known = (host_of<Host>(state).*slot).answer()](Progress& progress) -> std::optional<Command> {
          const auto made = [&] {
            if constexpr (std::is_invocable_v<Function, const Question&, const typename SlotType::Answer*, Progress&>)
              return answer_to(question, known.get(), progress);
            else if constexpr (std::is_invocable_v<Function, const Question&, Progress&>)
              return answer_to(question, progress);
            else return answer_to(question, progress.stop);
          };
          Result<typename SlotType::Pointer> answer = made();
          if (answer && !*answer) return std::nullopt;
          return reply(slot, question, std::move(answer));
        };
  }
}

}  // namespace headlight
