// Lessons: a guided walk, each step of which sets the program to the state it speaks of and asks for a change. They are
// files in assets/lessons and in the user's own folder; docs/formats.md says how one is written.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "document/bundled_models.h"
#include "document/document.h"
#include "lesson/lesson_claim.h"
#include "lesson/lesson_goal.h"
#include "view/settings.h"
#include "view/view_state.h"

namespace headlight {

/// A text in the window's languages.
struct Said {
  std::string en, zh;  // both empty or none: a text in one language stands in both

  const std::string& in(Language language) const { return language == Language::zh ? zh : en; }
  bool empty() const { return en.empty(); }
};

/// The scene that a step sets.
struct Scene {
  Document document;
  ViewState view;
};

/// What a step shows and waits for.
struct StepContent {
  std::optional<Scene> scene;  // nothing: everything stays as the reader has it
  std::vector<Goal> goals;     // all of them reached: the attempt is done. Empty: unknown
  std::vector<Claim> claims;   // what the text says about the numbers, so that it can be checked
};

struct LessonStep : StepContent {
  Said text;                           // what is to be seen
  Said attempt;                        // what the reader is asked to change; empty: nothing
  std::string points;                  // at a control, until that is done; empty: at none
  std::optional<StepContent> english;  // in the English window in place of the step's own

  const StepContent& in(Language language) const { return language == Language::en && english ? *english : *this; }
};

struct Lesson {
  std::string name;  // of its file, without the ending
  std::string path;
  Said title;
  std::vector<LessonStep> steps;  // one at least
};

/// How a lesson outside the lessons' folders is named, so that the window knows it for one.
inline constexpr std::string_view kLessonEnding = ".lesson.json";

/// Reads a lesson's file. A path that names a model in it begins at the file's folder. `shipped` may be null.
Result<Lesson> read_lesson(const std::filesystem::path& path, const BundledModels* shipped);
/// The same of the file's text.
Result<Lesson> lesson_from_json(const std::filesystem::path& path, const std::string& text,
                                const BundledModels* shipped);

/// Those that can be read, and what is wrong with the others.
struct Lessons {
  std::vector<Lesson> lessons;
  std::vector<Error> problems;
};
/// Every .json file of the folders, in the order of the folders and then of the names. Folders that are not there are
/// passed over.
Lessons read_lessons(const std::vector<std::filesystem::path>& folders, const BundledModels* shipped);

/// The place of the lesson with this name, with or without the number it begins with; nothing where there is none.
std::optional<std::size_t> find_lesson(const std::vector<Lesson>& lessons, std::string_view name);

/// $XDG_DATA_HOME/headlight/lessons, or its usual place under $HOME: a teacher's own.
std::filesystem::path lessons_folder();

}  // namespace headlight
