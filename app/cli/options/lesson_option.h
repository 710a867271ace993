// The lesson that a window begins with.
#pragma once

#include <optional>
#include <string>

#include "cli/options/parser.h"
#include "session/loop/startup.h"

namespace headlight {

struct LessonOption {
  explicit LessonOption(Parser& command) {
    command.option("--lesson", lesson,
                   "A lesson by its name (masks), or its .json file: the window is set to its first step");
    command.option("--step", step, "… or to this one, from 1").within(1, 1e6);
  }
  /// A lesson's file may also be the SOURCE.
  Status put_into(Startup& start) const {
    if (!lesson.empty() && !start.lesson.empty())
      return bad_input("--lesson", "", "no other lesson beside " + start.lesson, lesson);
    if (!lesson.empty()) start.lesson = lesson;
    if (step && start.lesson.empty()) return bad_input("--step", "", "--lesson, or a lesson's file", "none");
    start.step = step.value_or(1) - 1;
    start.asked = start.asked || !lesson.empty();
    return Done{};
  }

  std::string lesson;
  std::optional<std::size_t> step;
};

}  // namespace headlight
