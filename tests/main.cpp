// GoogleTest's main, for many tests in one process: what ends the process names the test, a test has a time of its own,
// and where HEADLIGHT_NO_SKIP or CI is set a test that skips has failed.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>
#include <unistd.h>

#ifdef HEADLIGHT_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace {

constexpr unsigned kSecondsOfATest = 240;
char running[256] = "";  // read by handlers of signals

void say_running(const char* what) {
  if (running[0] == '\0') return;
  char line[512];
  const int length = std::snprintf(line, sizeof line, "\n[  FAILED  ] %s: %s\n", running, what);
  if (write(STDERR_FILENO, line, static_cast<std::size_t>(length)) < 0) return;
}

#ifdef HEADLIGHT_ADDRESS_SANITIZER
void on_death() { say_running("the process ended in this test"); }
#endif

void on_signal(int signal) {
  std::signal(signal, SIG_DFL);
  say_running(signal == SIGALRM ? "not over after 240 s" : "the process ended in this test");
  std::raise(signal);
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

class Watch : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& info) override {
    std::snprintf(running, sizeof running, "%s.%s", info.test_suite_name(), info.name());
    alarm(kSecondsOfATest);
  }
  void OnTestEnd(const testing::TestInfo& info) override {
    alarm(0);
    if (info.result()->Skipped()) skipped_ = true;
    running[0] = '\0';
  }
  void OnTestProgramEnd(const testing::UnitTest&) override {
    if (fails()) std::fputs("[  FAILED  ] tests were skipped, which HEADLIGHT_NO_SKIP or CI forbids\n", stderr);
  }

  const bool forbidden_ = is_set("HEADLIGHT_NO_SKIP") || is_set("CI");
  bool skipped_ = false;

 public:
  bool fails() const { return skipped_ && forbidden_; }
};

}  // namespace

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  setenv("HEADLIGHT_PROGRESS", "0", 0);  // a line that stands on standard error or not, by the load of the machine
#ifdef HEADLIGHT_ADDRESS_SANITIZER
  __sanitizer_set_death_callback(on_death);  // of AddressSanitizer and UndefinedBehaviorSanitizer alike
#else
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, on_signal);
#endif
  for (const int signal : {SIGABRT, SIGALRM, SIGTERM}) std::signal(signal, on_signal);
  auto* const watch = new Watch;  // GoogleTest deletes it
  testing::UnitTest::GetInstance()->listeners().Append(watch);
  const int status = RUN_ALL_TESTS();
  return status != 0 ? status : watch->fails() ? 1 : 0;
}
