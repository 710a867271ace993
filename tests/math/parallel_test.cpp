#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <new>
#include <thread>
#include <vector>

#include "base/pool.h"
#include "base/refusal.h"

namespace headlight {
namespace {

TEST(ParallelFor, CallsEachIndexOnceWhateverTheNumberOfThreads) {
  for (const int threads : {0, 1, 2, 3, 8, 33}) {
    for (const Index count : {0, 1, 2, 7, 100, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      parallel_for(count, threads, [&](Index i) { ++calls.at(static_cast<std::size_t>(i)); });
      for (const auto& n : calls) ASSERT_EQ(n, 1) << count << " parts, " << threads << " threads";
    }
  }
}

TEST(ParallelFor, HasFinishedEveryPartWhenItReturns) {
  for (int round = 0; round < 50; ++round) {
    std::vector<int> written(64, 0);
    parallel_for(64, 4, [&](Index i) { written[static_cast<std::size_t>(i)] = static_cast<int>(i) + 1; });
    for (std::size_t i = 0; i < written.size(); ++i) ASSERT_EQ(written[i], static_cast<int>(i) + 1);
  }
}

TEST(ParallelFor, RunsAtMostAsManyPartsAtOnceAsThreads) {
  std::atomic<int> running = 0, most = 0;
  parallel_for(30, 3, [&](Index) {
    const int now = ++running;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {}
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --running;
  });
  EXPECT_LE(most, 3);
  EXPECT_GE(most, 1);
}

TEST(ParallelFor, APartThatThrowsIsThrownWhenNoPartRunsAnyMore) {
  for (const int threads : {0, 1, 2, 3, 33}) {
    std::atomic<int> running = 0;
    const auto part = [&](Index i) {
      ++running;
      if (i == 7) {
        --running;
        throw std::bad_alloc();
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      --running;
    };
    EXPECT_THROW(parallel_for(100, threads, part), std::bad_alloc) << threads << " threads";
    EXPECT_EQ(running, 0);
    int after = 0;  // the pool is whole
    parallel_for(1, threads, [&](Index) { ++after; });
    std::atomic<int> all = 0;
    parallel_for(50, threads, [&](Index) { ++all; });
    EXPECT_EQ(after + all, 51);
  }
}

TEST(Pool, HasTheThreadsThatTheSystemGives) {
  static std::atomic<int> left;
  for (const int given : {0, 1, 2}) {
    left = given;
    refusal = [](SystemCall call) { return call == SystemCall::thread && left-- <= 0 ? EAGAIN : 0; };
    Pool pool(4);
    refusal = nullptr;
    EXPECT_EQ(pool.threads(), given + 1);
    std::atomic<int> calls = 0;
    pool.run(100, [&](Index, int worker) { calls += worker <= given; });
    EXPECT_EQ(calls, 100);
  }
}

// Each part waits for the other, so both threads must come; pauses end before, while and after the other falls asleep.
TEST(Pool, WakesEveryThreadThatSleeps) {
  Pool pool(2);
  const auto busy_for = [](int microseconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
    while (std::chrono::steady_clock::now() < end) {}
  };
  for (int round = 0; round < 600; ++round) {
    busy_for(80 + round % 60);
    std::atomic<int> here = 0;
    std::atomic<bool> alone = false;
    pool.run(2, [&](Index part, int) {
      ++here;
      const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (here < 2 && !alone) alone = std::chrono::steady_clock::now() > latest;
      if (part == 1) busy_for(80 + round % 60);  // the caller, which has part 0, falls asleep
    });
    ASSERT_FALSE(alone) << "round " << round;
  }
}

TEST(Pool, EndsWhileItsThreadsFallAsleep) {
  for (int round = 0; round < 300; ++round) {
    Pool pool(3);
    pool.run(3, [](Index, int) {});
    std::this_thread::sleep_for(std::chrono::microseconds(round % 100));
  }
}

TEST(ParallelFor, OneThreadGoesInOrder) {
  std::vector<Index> order;
  parallel_for(20, 1, [&](Index i) { order.push_back(i); });
  ASSERT_EQ(order.size(), 20u);
  for (Index i = 0; i < 20; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace headlight
