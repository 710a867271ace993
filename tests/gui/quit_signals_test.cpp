#include "gl/quit_signals.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <future>

namespace headlight {
namespace {

TEST(QuitSignals, EachAsksOnceAndWakes) {
  for (const int signal : {SIGTERM, SIGHUP, SIGINT}) {
    std::promise<void> woken;
    QuitSignals signals([&] { woken.set_value(); });
    EXPECT_FALSE(signals.take());
    raise(signal);
    ASSERT_EQ(woken.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
    EXPECT_TRUE(signals.take());
    EXPECT_FALSE(signals.take()) << "the end may be taken back";
  }
}

TEST(QuitSignals, EndsWithoutASignal) {
  const QuitSignals signals([] {});
}

}  // namespace
}  // namespace headlight
