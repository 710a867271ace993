// The study that a window shows: a command opens it by its path, a worker reads it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figure/figure.h"
#include "session/slot.h"
#include "session/state.h"
#include "session/tool_state.h"

namespace headlight {

struct StudyAsked {
  std::string path;
  std::uint64_t opened = 0;  // how often one was: a file that has grown is read again
  friend bool operator==(const StudyAsked&, const StudyAsked&) = default;
};
std::optional<StudyAsked> study_asked(const AppState& state);

struct StudyPicture : ToolPicture {
  std::vector<Error> warnings = {};
};
/// Null where it was stopped. Errors: those of read_study().
Result<std::shared_ptr<const StudyPicture>> study_picture(const StudyAsked& asked, Progress& progress);
/// A study that could not be read leaves what was shown before.
void note_study(AppState& state, const std::shared_ptr<const StudyPicture>& before, const Error* error);

/// The part of the state.
struct ShownStudy {
  std::optional<StudyAsked> asked;
  Slot<StudyPicture, study_asked, study_picture, note_study> picture;
};

/// The command: shows the study of this path.
struct OpenStudy {
  std::string path;
};

extern const ToolState kStudyState;

}  // namespace headlight
