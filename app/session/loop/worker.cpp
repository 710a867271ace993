#include "session/loop/worker.h"

#include <cerrno>
#include <new>
#include <system_error>

#include "base/refusal.h"
#include "base/result.h"
#include "base/system.h"

namespace headlight {
namespace {

/// The answer of a job; one that throws, as memory may run out, is answered by FileFailed.
std::optional<Command> answer_of(const Job& job, Progress& progress) {
  try {
    return job(progress);
  } catch (...) { return FileFailed{thrown_error()}; }
}

}  // namespace

JobThreads::~JobThreads() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void JobThreads::run(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    try {
      if (tasks_.size() > idle_) {
        if (is_refused(SystemCall::thread)) throw std::system_error(errno, std::generic_category());
        threads_.emplace_back([this] { work(); });
      }
    } catch (const std::exception&) {  // the system has no more threads: the task waits for one that is busy
      if (threads_.empty()) {
        tasks_.pop_back();
        throw;
      }
    }
  }
  changed_.notify_one();
}

void JobThreads::work() {
  begin_thread();
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return closing_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

Worker::Worker(JobThreads& threads, std::function<void()> wake) : threads_(threads), wake_(std::move(wake)) {}

Worker::~Worker() {
  std::unique_lock lock(mutex_);
  waiting_.reset();
  if (running_) running_->stop = true;
  changed_.wait(lock, [this] { return !has_thread_; });
}

void Worker::post(Job job) {
  std::optional<Job> replaced(std::move(job));  // destroyed outside the mutex: a job may hold a large answer
  const std::lock_guard lock(mutex_);
  std::swap(waiting_, replaced);
  begins_stopped_ = false;
  if (std::exchange(has_thread_, true)) return;
  try {
    threads_.run([this] { run(); });
  } catch (...) {  // no thread could ever be started
    has_thread_ = false;
    waiting_.reset();
    answers_.push_back(FileFailed{thrown_error()});
  }
}

void Worker::cancel() {
  std::optional<Job> forgotten;
  const std::lock_guard lock(mutex_);
  std::swap(waiting_, forgotten);
  if (running_) running_->stop = true;
}

void Worker::stop() {
  const std::lock_guard lock(mutex_);
  begins_stopped_ = waiting_.has_value();
  if (running_) running_->stop = true;
}

std::vector<Command> Worker::take() {
  const std::lock_guard lock(mutex_);
  if (running_ && waiting_ && std::chrono::steady_clock::now() - started_ > kPatience) running_->stop = true;
  return std::exchange(answers_, {});
}

bool Worker::busy() const {
  const std::lock_guard lock(mutex_);
  return running_ || waiting_ || !answers_.empty();
}

float Worker::progress() const {
  const std::lock_guard lock(mutex_);
  return running_ ? running_->done.load() : 0.0f;
}

void Worker::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !running_ && !waiting_; });
}

void Worker::wait(double seconds) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return !running_ && !waiting_; });
}

void Worker::run() {
  std::unique_lock lock(mutex_);
  while (waiting_) {
    Job job = *std::exchange(waiting_, std::nullopt);
    const bool begins_stopped = std::exchange(begins_stopped_, false);
    std::shared_ptr<Progress> progress;
    try {
      progress = std::make_shared<Progress>();
      progress->stop = begins_stopped;
      answers_.reserve(answers_.size() + 1);  // room for the answer
    } catch (const std::bad_alloc&) {  // … and where there is none, a job gives nothing, as one that was stopped
      changed_.notify_all();
      continue;
    }
    running_ = progress;
    started_ = std::chrono::steady_clock::now();
    lock.unlock();
    auto answer = answer_of(job, *progress);
    job = nullptr;  // outside the mutex: it may hold the last reference to a large answer
    lock.lock();
    running_.reset();
    if (answer) answers_.push_back(std::move(*answer));
    changed_.notify_all();
    if (!wake_) continue;
    lock.unlock();
    wake_();
    lock.lock();
  }
  has_thread_ = false;
  changed_.notify_all();
}

}  // namespace headlight
