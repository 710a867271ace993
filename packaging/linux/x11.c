// libX11, opened when the window begins: the command line runs where it is not. Each function that GLFW names (x11_names.h)
// jumps to that of the library; where there is none, to one that answers 0, as XOpenDisplay does without a display.
#include <dlfcn.h>
#include <stddef.h>

static long nothing(void) { return 0; }

// %r11 and the flags alone may change: some of the functions take any number of arguments.
#define X11(NAME)                        \
  void* to_##NAME = (void*)nothing;      \
  __asm__(".globl " #NAME "\n"           \
          ".type " #NAME ", @function\n" \
          #NAME ": jmp *to_" #NAME "(%rip)\n");
__asm__(".text");
#include "x11_names.h"
#undef X11

static const struct {
  const char* name;
  void** to;
} functions[] = {
#define X11(NAME) {#NAME, &to_##NAME},
#include "x11_names.h"
};

// GLFW calls this one first.
int XInitThreads(void) {
  void* library = dlopen("libX11.so.6", RTLD_LAZY | RTLD_GLOBAL);
  if (!library) return 0;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    void* found = dlsym(library, functions[i].name);
    if (found) *functions[i].to = found;
  }
  int (*begin)(void) = (int (*)(void))dlsym(library, "XInitThreads");
  return begin ? begin() : 0;
}
