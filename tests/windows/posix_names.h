// Names that tests take from POSIX, for Windows; part of every file of its test programs.
#pragma once

#include <direct.h>
#include <io.h>
#include <stdlib.h>

#ifdef __cplusplus
#include <csignal>

constexpr int SIGBUS = SIGSEGV, SIGALRM = SIGABRT;  // what does not exist is another one twice
inline unsigned alarm(unsigned) { return 0; }
inline char* mkdtemp(char* name) { return _mktemp(name) && _mkdir(name) == 0 ? name : nullptr; }
inline int mkfifo(const wchar_t*, int) { return -1; }
inline int setenv(const char* name, const char* value, int) { return _putenv_s(name, value); }
inline int unsetenv(const char* name) { return _putenv_s(name, ""); }
#endif
