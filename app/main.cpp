// The one program: the command line, and the window behind it where this build has one.
#include "cli/frame/cli.h"

#include "base/system.h"
#if HEADLIGHT_GUI
#include "gl/app.h"
#endif

int main(int argc, char** argv) {
  headlight::begin_program();
  headlight::Frontend frontend;
#if HEADLIGHT_GUI
  frontend.open_window = headlight::open_window;
  frontend.screenshot = headlight::screenshot;
#endif
  return headlight::end_program(headlight::run_command_line(argc, argv, frontend));
}
