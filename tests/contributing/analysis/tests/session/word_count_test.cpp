#include "app/session_fixture.h"
#include "session/loop/errands.h"
#include "session/update.h"

namespace headlight {
namespace {

TEST(WordCount, FollowsTheAnswerOnTheScreen) {
  AppState state = fixture::small_state("我爱你");
  update(state, fixture::answer(state));
  JobThreads threads;
  Errand errand(threads, {}, &AppState::word_count);
  errand.ask(state, {});
  errand.worker().wait();
  for (Command& reply : errand.worker().take()) update(state, std::move(reply));
  ASSERT_TRUE(state.word_count);
  EXPECT_EQ(state.word_count->words, 3);
}

}  // namespace
}  // namespace headlight
