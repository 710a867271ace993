#include "cli/commands.h"
#include "cli/options/lesson_option.h"
#include "cli/options/print.h"
#include "cli/options/request_options.h"

namespace headlight {

ParsedCommand add_open(Parser& program, const Frontend& frontend) {
  Parser command = program.command("open", "The window (the word `open` may be left out)");
  command.footer("headlight open --text 'The cat sat.' --mask causal");
  auto request = std::make_shared<RequestOptions>(command);
  auto lesson = std::make_shared<LessonOption>(command);
  return [request, lesson, &frontend]() -> Result<int> {
    if (!frontend.open_window) return Error{"headlight open: this program was built without the window"};
    auto start = request->start_of_window();
    if (!start) return start.error();
    if (const auto put = lesson->put_into(*start); !put) return put.error();
    print_warnings(start->session.lost);
    if (const auto opened = frontend.open_window(*start); !opened) return opened.error();
    return 0;
  };
}

}  // namespace headlight
