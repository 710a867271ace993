// Standard input: read to its end, and line by line as it comes.
#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

namespace headlight {
namespace {

/// Standard input replaced by the reading end of a pipe, for as long as it lives.
class PipedInput {
 public:
  PipedInput() : kept_(::dup(STDIN_FILENO)) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    writer_ = ends[1];
  }
  ~PipedInput() {
    if (kept_ >= 0) ::dup2(kept_, STDIN_FILENO);
    else ::close(STDIN_FILENO);
    if (kept_ >= 0) ::close(kept_);
  }
  PipedInput(const PipedInput&) = delete;
  PipedInput& operator=(const PipedInput&) = delete;

  int writer() const { return writer_; }

 private:
  int kept_, writer_ = -1;
};

TEST(StandardInput, IsReadToItsEnd) {
  const PipedInput input;
  ::fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);  // as some parents leave it: reading must wait all the same
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::string bytes(300'000, 'x');
    EXPECT_EQ(::write(input.writer(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ::close(input.writer());
  });
  const auto read = read_standard_input();
  writer.join();
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->size(), 300'000u);
}

TEST(StandardInput, LinesComeAsSoonAsTheyAreThere) {
  const PipedInput input;
  InputLines lines(6);
  const auto say = [&](std::string_view bytes) {
    ASSERT_EQ(::write(input.writer(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  };
  const auto expect_next = [&](std::string_view text, bool is_too_long = false) {
    const auto line = lines.next();
    ASSERT_TRUE(line);
    ASSERT_TRUE(*line);
    EXPECT_EQ((*line)->text, text);
    EXPECT_EQ((*line)->is_too_long, is_too_long);
  };
  say("one\n\r\nthree\r\nsev");  // the writer is still there
  expect_next("one");
  expect_next("");
  expect_next("three");
  say("ens!\n" + std::string(40'000, 'x') + "\nlast");
  expect_next("sevens", true);
  expect_next("xxxxxx", true);
  ::close(input.writer());
  expect_next("last");
  for (int again = 0; again < 2; ++again) {
    const auto line = lines.next();
    ASSERT_TRUE(line);
    EXPECT_FALSE(*line);
  }
}

TEST(StandardInput, HasALimit) {
  const PipedInput input;
  ASSERT_EQ(::write(input.writer(), "0123456789", 10), 10);
  ::close(input.writer());
  const auto read = read_standard_input(9);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message(), "standard input: size: expected at most 9 bytes, found more");
}

}  // namespace
}  // namespace headlight
