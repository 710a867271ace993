// The bundled lessons with the models that they are about, read once.
#pragma once

#include "app/session_fixture.h"
#include "app/shipped.h"
#include "lesson/lesson.h"
#include "session/update.h"

namespace headlight::fixture {

inline const Lessons& all_lessons() {
  static const Lessons lessons = read_lessons({assets() / "lessons"}, shipped().get());
  return lessons;
}

/// The window's state with the lessons, nothing answered yet.
inline AppState state_with(std::vector<Lesson> lessons) {
  AppState state = initial_state(lexicon(), default_document(shipped().get()), {}, {}, shipped());
  state.lessons = std::make_shared<const std::vector<Lesson>>(std::move(lessons));
  return state;
}

}  // namespace headlight::fixture
