// What test.sh does to the window from outside, as Windows and other programs do it. Built by test.sh with mingw-w64.
//   hands hold FILE MILLISECONDS   opens the file, shares it with nobody, prints a line, and closes it after this time
//   hands drop TITLE FILE          drops the file onto the window whose title has this word
//   hands chosen TITLE TEXT        gives the window a text that was chosen in an input method
//   hands end TITLE                asks the window whether the session may end, and ends it
//   hands clipboard [TEXT]         sets the text of the clipboard, or prints it
#define UNICODE
#include <windows.h>
// after windows.h
#include <shellapi.h>
#include <shlobj.h>
#include <stdio.h>
#include <wchar.h>

static const wchar_t* title;
static HWND window;
static BOOL CALLBACK look(HWND one, LPARAM unused) {
  wchar_t found[256] = L"";
  (void)unused;
  GetWindowTextW(one, found, 256);
  if (IsWindowVisible(one) && wcsstr(found, title)) window = one;
  return window == NULL;
}

static int fail(const char* what) {
  fprintf(stderr, "hands: %s: error %lu\n", what, GetLastError());
  return 1;
}

static int hold(const wchar_t* path, DWORD milliseconds) {
  HANDLE file = CreateFileW(path, GENERIC_READ, 0, NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
  if (file == INVALID_HANDLE_VALUE) return fail("the file is not opened");
  puts("held");
  fflush(stdout);
  Sleep(milliseconds);
  CloseHandle(file);
  return 0;
}

// The list stands in the memory of the window's process, where the system would have put it.
static int drop(const wchar_t* path) {
  struct {
    DROPFILES head;
    wchar_t names[1024];
  } list = {.head = {.pFiles = sizeof(DROPFILES), .pt = {200, 200}, .fWide = TRUE}};
  DWORD process = 0;
  GetWindowThreadProcessId(window, &process);
  HANDLE its = OpenProcess(PROCESS_VM_OPERATION | PROCESS_VM_WRITE, FALSE, process);
  void* there = VirtualAllocEx(its, NULL, sizeof list, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
  wcsncpy(list.names, path, 1022);  // a list of names ends with an empty one
  if (!there || !WriteProcessMemory(its, there, &list, sizeof list, NULL)) return fail("no memory of the window");
  if (!PostMessageW(window, WM_DROPFILES, (WPARAM)there, 0)) return fail("nothing is dropped");
  return 0;
}

static int chosen(const wchar_t* text) {
  for (; *text; ++text) SendMessageW(window, WM_IME_CHAR, *text, 1);
  return 0;
}

static int end(void) {
  if (!SendMessageW(window, WM_QUERYENDSESSION, 0, ENDSESSION_LOGOFF)) return fail("the window objects");
  SendMessageW(window, WM_ENDSESSION, TRUE, ENDSESSION_LOGOFF);
  return 0;
}

static int clipboard(const wchar_t* text) {
  if (!OpenClipboard(NULL)) return fail("the clipboard is not opened");
  if (text) {
    HGLOBAL memory = GlobalAlloc(GMEM_MOVEABLE, (wcslen(text) + 1) * sizeof(wchar_t));
    wcscpy(GlobalLock(memory), text);
    GlobalUnlock(memory);
    EmptyClipboard();
    if (!SetClipboardData(CF_UNICODETEXT, memory)) return fail("the clipboard takes nothing");
  } else {
    HANDLE memory = GetClipboardData(CF_UNICODETEXT);
    char said[65536] = "";
    if (!memory) return fail("the clipboard holds no text");
    WideCharToMultiByte(CP_UTF8, 0, GlobalLock(memory), -1, said, sizeof said, NULL, NULL);
    fputs(said, stdout);
  }
  CloseClipboard();
  return 0;
}

int main(void) {
  int count = 0;
  wchar_t** words = CommandLineToArgvW(GetCommandLineW(), &count);
  const wchar_t* what = count > 1 ? words[1] : L"";
  if (!wcscmp(what, L"hold") && count == 4) return hold(words[2], wcstoul(words[3], NULL, 10));
  if (!wcscmp(what, L"clipboard")) return clipboard(count > 2 ? words[2] : NULL);
  if (count < 3) return fail("expected what to do, and to which window");
  title = words[2];
  EnumWindows(look, 0);
  if (!window) return fail("there is no such window");
  if (!wcscmp(what, L"drop") && count == 4) return drop(words[3]);
  if (!wcscmp(what, L"chosen") && count == 4) return chosen(words[3]);
  if (!wcscmp(what, L"end")) return end();
  return fail("expected hold, drop, chosen, end or clipboard");
}
