#include "cli/frame/commands.h"
#include "cli/frame/reduced_question.h"
#include "cli/options/lesson_option.h"
#include "cli/options/request_options.h"
#include "cli/options/view_options.h"

namespace headlight {

namespace {

ParsedCommand add_open(Parser& parser, const Frontend& frontend) {
  auto request = std::make_shared<RequestOptions>(parser);
  auto lesson = std::make_shared<LessonOption>(parser);
  auto timings = std::make_shared<bool>();
  auto range = std::make_shared<std::optional<ColourRange>>();
  add_range(parser, *range);
  auto reduce = std::make_shared<std::string>();
  add_reduce(parser, *reduce);
  parser.option("--timings", *timings, "Prints on standard error when each part of the start was done");
  return [request, lesson, timings, range, reduce, &frontend]() -> Result<int> {
    if (!frontend.open_window)
      return Error(ErrorCode::bad_value, "headlight open", "this program was built without the window");
    std::optional<ProgressReport> report("open");
    auto start = reduce->empty() ? request->start_of_window() : reduced_start(*request, *reduce);
    report.reset();
    if (!start) return start.error();
    TRY(lesson->put_into(*start));
    print_warnings(start->session.lost);
    start->timings = *timings;
    if (*range) start->session.view.range = *range;
    TRY(frontend.open_window(*start));
    return 0;
  };
}

}  // namespace

const NamedCommand kOpen{"open", "The window (the word `open` may be left out)", R"(
headlight open --text 'The cat sat.' --mask causal)",
                         add_open};

}  // namespace headlight
