// The begin and the end of the program, and the line of a fault: version and command, nothing of what was asked.
#include <signal.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <cstddef>
#include <cstring>
#include <utility>

#include "base/system.h"

namespace headlight {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // the sanitizer reports a fault itself
#else
constexpr bool kSanitized = false;
#endif

constexpr std::pair<int, const char*> kFaults[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGABRT, "SIGABRT"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}};

// A handler may neither lock nor take memory.
const char* volatile named_work = "";
alignas(16) char fault_stack[32 << 10];  // where it runs: the stack may be what overflowed

void say(const char* text) { static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text))); }

void on_fault(int signal) {
  const char* const ended = named_work;
  say("headlight " HEADLIGHT_VERSION ": ");
  if (*ended) say(ended), say(": ");
  say("a fault of the program ended it (");
  for (const auto& [number, name] : kFaults)
    if (number == signal) say(name);
  say("); files that it was writing are as they were before\n");
  ::raise(signal);  // whose action is the system's again: a core file, the exit status
}

void watch_for_faults() {
  if (kSanitized) return;
  stack_t own = {};
  own.ss_sp = fault_stack;
  own.ss_size = sizeof fault_stack;
  ::sigaltstack(&own, nullptr);
  struct sigaction action = {};
  action.sa_handler = on_fault;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  for (const auto& [number, name] : kFaults) ::sigaction(number, &action, nullptr);
}

}  // namespace

void begin_program() {
  // A closed pipe and a file above the limit of its size are failed writes, reported as such.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  watch_for_faults();
#if defined(__GLIBC__)
  // The next answer takes the memory that the last one freed; pages given back would be cleared by the system anew.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

void name_work(const char* command) { named_work = command; }

int end_program(int status) { return status; }

}  // namespace headlight
