#include "session/worker.h"

namespace headlight {

Worker::Worker(std::function<void()> wake) : wake_(std::move(wake)), thread_([this] { run(); }) {}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    waiting_.reset();
    if (running_) running_->stop = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Worker::post(Job job) {
  {
    const std::lock_guard lock(mutex_);
    waiting_ = std::move(job);
  }
  changed_.notify_all();
}

void Worker::cancel() {
  const std::lock_guard lock(mutex_);
  waiting_.reset();
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
  for (;;) {
    changed_.wait(lock, [this] { return closing_ || waiting_; });
    if (closing_) return;
    const Job job = std::move(*waiting_);
    waiting_.reset();
    const auto progress = std::make_shared<Progress>();
    running_ = progress;
    started_ = std::chrono::steady_clock::now();
    lock.unlock();
    auto answer = job(*progress);
    lock.lock();
    running_.reset();
    if (answer) answers_.push_back(std::move(*answer));
    changed_.notify_all();
    if (!wake_) continue;
    lock.unlock();
    wake_();
    lock.lock();
  }
}

}  // namespace headlight
