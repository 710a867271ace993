#include "gl/quit_signals.h"

#include <windows.h>

#include <utility>

namespace headlight {
namespace {

/// What a handler is given: nothing.
std::atomic<std::atomic<bool>*> asked_of = nullptr;
std::function<void()> wake_of;

void ask() {
  if (auto* const asked = asked_of.load()) *asked = true;
  if (wake_of) wake_of();
}

/// The system ends the program when this returns, or after five seconds: the window has that time.
BOOL WINAPI on_console(DWORD event) {
  if (!asked_of) return FALSE;
  ask();
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) Sleep(INFINITE);
  return TRUE;
}

/// A log-off reaches programs with a window as a message; the window is drawn and closed within it.
LRESULT CALLBACK on_message(int code, WPARAM key, LPARAM data) {
  const auto* const message = reinterpret_cast<const CWPSTRUCT*>(data);
  if (code == HC_ACTION && message->message == WM_QUERYENDSESSION) ask();
  return CallNextHookEx(nullptr, code, key, data);
}

}  // namespace

struct QuitSignals::Watch {
  HHOOK hook = SetWindowsHookExW(WH_CALLWNDPROC, on_message, nullptr, GetCurrentThreadId());
};

QuitSignals::QuitSignals(std::function<void()> wake) : watch_(new Watch) {
  wake_of = std::move(wake);
  asked_of = &asked_;
  SetConsoleCtrlHandler(on_console, TRUE);
}

QuitSignals::~QuitSignals() {
  SetConsoleCtrlHandler(on_console, FALSE);
  asked_of = nullptr;
  UnhookWindowsHookEx(watch_->hook);
}

}  // namespace headlight
