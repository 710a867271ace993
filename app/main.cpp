// The one program: the command line, and the window behind it where this build has one.
#include "cli/cli.h"

#include <csignal>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#if HEADLIGHT_GUI
#include "gl/app.h"
#endif

int main(int argc, char** argv) {
  // A closed pipe and a file above the limit of its size are failed writes, reported as such.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
#if defined(__GLIBC__)
  // An answer needs again what the last one gave back: pages that the system would have to clear anew each time.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
  headlight::Frontend frontend;
#if HEADLIGHT_GUI
  frontend.open_window = headlight::open_window;
  frontend.screenshot = headlight::screenshot;
#endif
  return headlight::run_command_line(argc, argv, frontend);
}
