#include "session/worker.h"

#include <system_error>
#include <utility>

namespace headlight {

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
      if (tasks_.size() > idle_) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // the system has no more threads: the task waits for one that is busy
      if (threads_.empty()) throw;
    }
  }
  changed_.notify_one();
}

std::size_t JobThreads::count() const {
  const std::lock_guard lock(mutex_);
  return threads_.size();
}

void JobThreads::work() {
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
  if (std::exchange(has_thread_, true)) return;
  threads_.run([this] { run(); });
}

void Worker::cancel() {
  std::optional<Job> forgotten;
  const std::lock_guard lock(mutex_);
  std::swap(waiting_, forgotten);
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
    const auto progress = std::make_shared<Progress>();
    running_ = progress;
    started_ = std::chrono::steady_clock::now();
    lock.unlock();
    auto answer = job(*progress);
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
