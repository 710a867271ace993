#include "session/loop/worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <future>
#include <new>

#include "base/refusal.h"

namespace headlight {
namespace {

/// A job that answers with its number.
Job numbered(std::string number) {
  return [number](Progress&) { return std::optional<Command>(FileFailed{Error(ErrorCode::bad_value, number)}); };
}

/// A job that runs until it is stopped; `began` is set when it starts.
Job endless(std::promise<void>& began) {
  return [&began](Progress& progress) {
    began.set_value();
    while (!progress.stop) std::this_thread::yield();
    return std::optional<Command>{};
  };
}

std::vector<std::string> numbers(const std::vector<Command>& answers) {
  std::vector<std::string> texts;
  for (const Command& answer : answers) texts.push_back(answer.as<FileFailed>()->error.message());
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Worker, AnswersArriveOnceAndWake) {
  std::atomic<int> woken = 0;
  {
    JobThreads threads;
    Worker worker(threads, [&] { ++woken; });
    EXPECT_FALSE(worker.busy());
    worker.post(numbered("1"));
    worker.wait();
    EXPECT_TRUE(worker.busy()) << "the answer was not taken";
    worker.post(numbered("2"));
    worker.wait();
    EXPECT_EQ(numbers(worker.take()), (Texts{"1", "2"}));
    EXPECT_FALSE(worker.busy());
    EXPECT_TRUE(worker.take().empty());
  }
  EXPECT_EQ(woken, 2);
}

TEST(Worker, AJobThatThrowsIsAnAnswer) {
  JobThreads threads;
  Worker worker(threads, {});
  worker.post([](Progress&) -> std::optional<Command> { throw std::bad_alloc(); });
  worker.wait();
  EXPECT_EQ(numbers(worker.take()), (Texts{"memory: expected enough for this, found no more (out of memory)"}));
  worker.post(numbered("next"));
  worker.wait();
  EXPECT_EQ(numbers(worker.take()), (Texts{"next"}));
}

TEST(Worker, WithoutAnyThreadTheJobIsAnsweredAndNothingWaits) {
  JobThreads threads;
  Worker worker(threads, {});
  refusal = [](SystemCall call) { return call == SystemCall::thread ? EAGAIN : 0; };
  worker.post(numbered("never"));
  refusal = nullptr;
  worker.wait();
  EXPECT_EQ(numbers(worker.take()),
            (Texts{"system: expected what this needs, found Resource temporarily unavailable"}));
  worker.post(numbered("next"));
  worker.wait();
  EXPECT_EQ(numbers(worker.take()), (Texts{"next"}));
}

TEST(Worker, ALaterJobReplacesTheOneThatWaits) {
  JobThreads threads;
  Worker worker(threads, {});
  std::promise<void> began;
  worker.post(endless(began));
  began.get_future().wait();
  worker.post(numbered("replaced"));
  worker.post(numbered("latest"));
  EXPECT_TRUE(worker.busy());
  // Once its patience is over, asking for answers stops the running job.
  std::vector<Command> answers;
  while (answers.empty()) answers = worker.take();
  EXPECT_EQ(numbers(answers), (Texts{"latest"}));
}

TEST(Worker, ARunningJobGoesOnWhileNobodyWaits) {
  JobThreads threads;
  Worker worker(threads, {});
  std::promise<void> began;
  worker.post(endless(began));
  began.get_future().wait();
  std::this_thread::sleep_for(kPatience + std::chrono::milliseconds(50));
  EXPECT_TRUE(worker.take().empty());
  EXPECT_TRUE(worker.busy());
}

TEST(Worker, CancelStopsWhatRunsAndForgetsWhatWaits) {
  JobThreads threads;
  Worker worker(threads, {});
  std::promise<void> began;
  worker.post(endless(began));
  began.get_future().wait();
  worker.post(numbered("never"));
  worker.cancel();
  worker.wait();
  EXPECT_TRUE(worker.take().empty());
  worker.post(numbered("again"));
  worker.wait();
  EXPECT_EQ(numbers(worker.take()), (Texts{"again"}));
}

TEST(Worker, AJobThatIsStoppedBeforeItBeginsAnswersThatItWas) {
  JobThreads threads;
  Worker worker(threads, {});
  std::promise<void> began;
  worker.post(endless(began));
  began.get_future().wait();
  const Job job = [](Progress& progress) -> std::optional<Command> {
    return FileFailed{Error(ErrorCode::bad_value, progress.stop ? "stopped" : "ran")};
  };
  worker.post(job);
  worker.stop();
  worker.wait();
  EXPECT_EQ(numbers(worker.take()), (Texts{"stopped"}));
  worker.post(job);
  worker.wait();
  EXPECT_EQ(numbers(worker.take()), (Texts{"ran"})) << "only that one";
}

TEST(Worker, EndsWhileAJobRunsAndAnotherWaits) {
  std::promise<void> began;
  std::atomic<bool> ran = false;
  {
    JobThreads threads;
    Worker worker(threads, {});
    worker.post(endless(began));
    began.get_future().wait();
    worker.post([&](Progress&) {
      ran = true;
      return std::optional<Command>{};
    });
  }
  EXPECT_FALSE(ran);
}

TEST(Worker, ProgressIsTheRunningJobs) {
  JobThreads threads;
  Worker worker(threads, {});
  EXPECT_EQ(worker.progress(), 0.0f);
  std::promise<void> half, go;
  worker.post([&](Progress& progress) {
    progress.done = 0.5f;
    half.set_value();
    go.get_future().wait();
    return std::optional<Command>{};
  });
  half.get_future().wait();
  EXPECT_EQ(worker.progress(), 0.5f);
  go.set_value();
  worker.wait();
  EXPECT_EQ(worker.progress(), 0.0f);
}

}  // namespace
}  // namespace headlight
