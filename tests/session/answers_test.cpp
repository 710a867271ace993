// A new analysis is a function that answers and a slot with its question; asking, keeping and failing come with the
// slot.
#include <atomic>
#include <memory>
#include <optional>

#include "app/session_fixture.h"
#include "derived/weak_ref.h"
#include "session/loop/errands.h"
#include "session/update.h"

namespace headlight {
namespace {

using fixture::answer;
using fixture::small_state;

struct CountQuestion {
  WeakRef<Trace> trace;
  friend bool operator==(const CountQuestion&, const CountQuestion&) = default;
};

std::atomic<int> times_counted = 0;

std::optional<CountQuestion> count_question(const AppState& state) {
  return state.view.help ? std::optional(CountQuestion{state.trace}) : std::nullopt;
}

Result<std::shared_ptr<const Index>> count_tokens(const CountQuestion& question, Progress& progress) {
  const auto trace = question.trace.lock();
  if (!trace || progress.stop) return std::shared_ptr<const Index>();
  ++times_counted;
  const auto count = static_cast<Index>(trace->request.tokens.size());
  if (count > 9) return bad_input("text", "tokens", "at most 9", std::to_string(count));
  return std::make_shared<const Index>(count);
}

/// The state of a window with one analysis more.
struct CountingState : AppState {
  Slot<Index, count_question, count_tokens> count;
};

class NewAnalysis : public ::testing::Test {
 protected:
  NewAnalysis() : errand(threads, {}, &CountingState::count) {
    static_cast<AppState&>(state) = small_state("我爱你");
    times_counted = 0;
    apply(answer(state), ShowHelp{true});
  }
  template <class... Given>
  void apply(Given... commands) {
    (update(state, std::move(commands)), ...);
  }
  void settle() {
    errand.ask(state, {});
    errand.worker().wait();
    for (Command& reply : errand.worker().take()) update(state, std::move(reply));
  }
  const Index* known() { return state.count.to(*count_question(state)); }

  JobThreads threads;
  CountingState state;
  Errand errand;
};

TEST_F(NewAnalysis, IsAskedOnceAndAnsweredAnew) {
  EXPECT_FALSE(state.count);
  settle();
  ASSERT_TRUE(known());
  EXPECT_EQ(*known(), 3);
  settle();
  EXPECT_EQ(times_counted, 1);
  EXPECT_EQ(state.count.version(), 1u);

  apply(SetText{"我爱"});
  apply(EndGesture{});
  apply(answer(state));
  EXPECT_FALSE(known());
  EXPECT_EQ(*state.count, 3) << "the old answer stays until the new one is there";
  settle();
  EXPECT_EQ(*known(), 2);
}

TEST_F(NewAnalysis, IsNotAskedWhileNothingWantsIt) {
  apply(ShowHelp{false});
  settle();
  EXPECT_EQ(times_counted, 0);
}

TEST_F(NewAnalysis, AFailureIsAskedAgainOnlyAfterTheQuestionChanged) {
  settle();
  apply(SetText{"我爱你我爱你我爱你我"});
  apply(EndGesture{});
  apply(answer(state));
  settle();
  ASSERT_TRUE(state.count.error_of(*count_question(state)));
  EXPECT_EQ(state.count.error_of(*count_question(state))->message(), "text: tokens: expected at most 9, found 10");
  EXPECT_EQ(*state.count, 3) << "as that of an earlier question";
  settle();
  EXPECT_EQ(times_counted, 2);
  apply(SetText{"我"});
  apply(EndGesture{});
  apply(answer(state));
  settle();
  EXPECT_FALSE(state.count.error_of(*count_question(state)));
  EXPECT_EQ(*known(), 1);
}

TEST_F(NewAnalysis, AnotherQuestionsAnswerComesTooLate) {
  settle();
  const auto late = std::make_shared<const Trace>(*state.trace);
  update(state, reply(&CountingState::count, {late}, std::make_shared<const Index>(7)));
  EXPECT_EQ(*state.count, 3);
}

TEST_F(NewAnalysis, ALogOfCommandsReplaysItsAnswer) {
  errand.ask(state, {});
  errand.worker().wait();
  const Commands log = errand.worker().take();
  ASSERT_EQ(log.size(), 1u);
  CountingState again = state;
  for (const Command& command : log) update(again, command);
  EXPECT_EQ(*again.count, 3);
  EXPECT_FALSE(state.count);
}

}  // namespace
}  // namespace headlight
