#include "gl/quit_signals.h"

#include <windows.h>

#include <thread>

namespace headlight {
namespace {

/// What a handler is given: nothing.
std::atomic<std::atomic<bool>*> asked_of = nullptr;
std::function<void()> wake_of;

/// The system ends the program when this or on_message returns, or after five seconds: the window has that time.
BOOL WINAPI on_console(DWORD event) {
  auto* const asked = asked_of.load();
  if (!asked) return FALSE;
  *asked = true;
  wake_of();
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) Sleep(INFINITE);
  return TRUE;
}

LRESULT CALLBACK on_message(HWND window, UINT message, WPARAM key, LPARAM data) {
  if (message == WM_ENDSESSION && key) on_console(CTRL_LOGOFF_EVENT);
  return DefWindowProcW(window, message, key, data);
}

/// A log-off reaches programs with a window as a message. A hidden one on a thread of its own holds it.
void hold_log_off() {
  const HWND hidden = CreateWindowW(L"STATIC", L"", WS_POPUP, 0, 0, 0, 0, nullptr, nullptr, nullptr, nullptr);
  SetWindowLongPtrW(hidden, GWLP_WNDPROC, reinterpret_cast<LONG_PTR>(on_message));
  for (MSG message; GetMessageW(&message, nullptr, 0, 0) > 0;) DispatchMessageW(&message);
}

}  // namespace

struct QuitSignals::Watch {};

QuitSignals::QuitSignals(std::function<void()> wake) : watch_(new Watch) {
  wake_of.swap(wake);
  asked_of = &asked_;
  SetConsoleCtrlHandler(on_console, TRUE);
  std::thread(hold_log_off).detach();
}

QuitSignals::~QuitSignals() {
  SetConsoleCtrlHandler(on_console, FALSE);
  asked_of = nullptr;
}

}  // namespace headlight
