// The start of the program: the request of the command line, and the program's data.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lesson/lesson.h"
#include "models/bundled_models.h"
#include "question/samples.h"
#include "session/file/session_file.h"
#include "session/state.h"
#include "view/settings.h"

namespace headlight {

/// The input of a window's start.
struct Startup {
  Session session;
  std::string session_path;         // where Save writes, if a session was opened
  std::vector<Error> warnings;      // of the file that was opened
  std::string open;                 // a folder that the window opens once it is there, with progress; empty: none
  std::optional<Document> against;  // for a picture: the question whose answer is A in View::compare
  bool asked = false;               // something was named on the command line, so no crashed session is restored
  std::string lesson;               // that is begun: a name among those that come along, or a file; empty: none
  std::size_t step = 0;             // … at this step
  bool timings = false;             // how long the start takes, on standard error
};

class Loop;  // session/loop/loop.h

struct ScreenshotOptions {
  std::string file;
  int width = 1600, height = 1000;
  std::optional<Theme> theme;
  std::optional<Language> language;
  std::optional<float> ui_scale = {};  // none: what suits the size
  std::string boxes;                   // a file for the boxes of what is on the picture, as JSON; empty: none
  bool greeted = true;                 // without the first words about the window
  std::optional<View> view = {};       // that is opened as a click on its tab would (show_view)
  bool own_head = false;               // a head was asked for
  /// What a tool does before the picture is drawn; empty: nothing.
  std::function<Status(Loop&, AppState&)> prepare = {};
};

/// The program's data that a window needs.
struct Resources {
  Lexicon lexicon;
  std::vector<Sample> samples;
  std::shared_ptr<const BundledModels> shipped;
  Lessons lessons;
};
Result<Resources> read_resources();

/// The state has the lessons from now on; the one that the start names is begun.
Status begin_lessons(AppState& state, const Lessons& lessons, const Startup& start);

/// The layout of the last window; Compare has nothing to show without an answer that was kept, so the heads are shown.
void take_layout(AppState& state, const Layout& layout);

/// Begins as the last window was left: its layout, and the lesson that was read in it. A crash is handled elsewhere
/// (session/loop/recovery.h). A lesson that is gone becomes a notice.
void take_up(AppState& state, const Settings& settings);

/// The view as a click on its tab opens it: Inside begins with a weight, Compare with the head that changed most.
void show_view(AppState& state, View view);

/// A window that begins with a question but without a view begins with the head and the cell of start_cell.h; the
/// first time the sentence box has the keyboard. `own_head`: a head was asked for, and none is chosen.
void begin_looking(AppState& state, bool own_head = false);

/// The settings as they were kept, or the default ones.
Settings read_settings();

}  // namespace headlight
