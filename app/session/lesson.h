// Lessons: a guided walk, each step of which sets the program to the state it speaks of.
#pragma once

#include <string>

namespace headlight {

/// One lesson.
struct Lesson {
  std::string name;  // of its file, without the ending
};

}  // namespace headlight
