// The lesson that a window begins with.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "session/start.h"

namespace headlight {

struct LessonOption {
  explicit LessonOption(CLI::App& command) {
    CLI::Option* named = command.add_option("--lesson", lesson, "A lesson by its name (masks), or its .json file: the window is set to its first step");
    command.add_option("--step", step, "… or to this one, from 1")->check(CLI::PositiveNumber)->needs(named);
  }
  void put_into(Start& start) const {
    start.lesson = lesson;
    start.step = step - 1;
    start.asked = start.asked || !lesson.empty();
  }

  std::string lesson;
  std::size_t step = 1;
};

}  // namespace headlight
