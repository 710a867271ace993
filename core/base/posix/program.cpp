// The begin and the end of the program, and the line of a fault: version, command, options, nothing of what was asked.
#include <signal.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
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

/// A handler may neither lock nor take memory: a text of fixed size.
struct Line {
  char text[1024] = {};
  std::size_t size = 0;

  void append(std::string_view more) { size += more.copy(text + size, sizeof text - size); }
};
Line works[2];                                 // one is read while the other is made
std::atomic<const Line*> work = works;         // `export --text --mask: `
std::atomic<const char*> thrown = "";          // what ended the program, beside the signal
constexpr std::size_t kFaultStack = 32 << 10;  // of the handler: the stack may be what overflowed
alignas(16) char fault_stack_of_main[kFaultStack];
std::atomic<bool> watches = false;

void on_fault(int signal) {
  remove_temporaries();
  Line line;
  line.append("headlight " HEADLIGHT_VERSION ": ");
  const Line& asked = *work.load();
  line.append({asked.text, asked.size});
  line.append("a fault of the program ended it (");
  for (const auto& [number, name] : kFaults)
    if (number == signal) line.append(name);
  line.append(thrown.load());
  line.append("); files that it was writing are as they were before\n");
  static_cast<void>(!::write(STDERR_FILENO, line.text, line.size));
  ::raise(signal);  // whose action is the system's again: a core file, the exit status
}

/// In place of the lines that the C++ library writes.
[[noreturn]] void on_terminate() {
  try {
    if (const auto what = std::current_exception()) std::rethrow_exception(what);
  } catch (const std::bad_alloc&) { thrown = ", out of memory"; } catch (...) {
    thrown = ", an exception";
  }
  std::abort();
}

void take_stack(char* bytes) {
  stack_t own = {};
  own.ss_sp = bytes;
  own.ss_size = kFaultStack;
  own.ss_flags = bytes ? 0 : SS_DISABLE;
  ::sigaltstack(&own, nullptr);
}

struct FaultStack {
  std::unique_ptr<char[]> bytes{new (std::nothrow) char[kFaultStack]};

  FaultStack() { take_stack(bytes.get()); }
  ~FaultStack() { take_stack(nullptr); }
};

void watch_for_faults() {
  if (kSanitized) return;
  watches = true;
  take_stack(fault_stack_of_main);
  struct sigaction action = {};
  action.sa_handler = on_fault;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  for (const auto& [number, name] : kFaults) ::sigaction(number, &action, nullptr);
  std::set_terminate(on_terminate);
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

void begin_thread() {
  if (watches) thread_local const FaultStack own;
}

void name_work(std::string_view asked) {
  Line& next = works[work == works ? 1 : 0];
  next.size = 0;
  next.append(asked.substr(0, sizeof next.text / 2));
  next.append(": ");
  work = &next;
}

int end_program(int status) { return status; }

}  // namespace headlight
