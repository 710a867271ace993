// How a lesson is walked through: what its commands change.
#pragma once

#include "lesson/lesson.h"
#include "session/state.h"

namespace headlight {

/// The lesson that is being read, and its step; null where none is.
const Lesson* current_lesson(const AppState& state);
const LessonStep* current_step(const AppState& state);
/// How a file speaks of them; without a name where none is read.
LessonMark lesson_mark(const AppState& state);
/// Whether the reader did what the step asks for: nothing where it asks for nothing that the window can see.
std::optional<bool> is_attempt_done(const AppState& state);
/// Whether it was done once, now or in an earlier window; how many of a lesson's steps were, and of how many that ask
/// for something.
bool was_done(const AppState& state, const Lesson& lesson, std::size_t step);
struct LessonProgress {
  std::size_t done = 0, all = 0;
};
LessonProgress progress_of(const AppState& state, const Lesson& lesson);
/// Remembers the step that is being read, once its attempt is done.
void mark_done(AppState& state);

/// The position of the lesson with this path, else with this name; nothing where there is none.
std::optional<LessonPosition> position_of(const AppState& state, const LessonMark& mark);
/// The error for a lesson that is missing.
Error lesson_is_gone(const LessonMark& mark);

/// Begins a lesson; without one, leaves the current lesson and changes nothing else. `kind` is that of the command.
void open_lesson(AppState& state, std::optional<std::size_t> lesson, CommandKind kind);
/// Goes to a step: the question becomes what it sets, in one step of undo, and so does the look.
void go_to_step(AppState& state, std::size_t step, CommandKind kind);
/// Takes the settings. In another language a step with a separate English sentence is shown anew: its text is about
/// another sentence then.
void take_settings(AppState& state, Settings settings, CommandKind kind);
/// Adds a lesson from a file, or replaces an earlier one from that file. Returns its index.
std::size_t add_lesson(AppState& state, Lesson lesson);
/// … and begins it.
void take_lesson(AppState& state, Lesson lesson, CommandKind kind);

}  // namespace headlight
