// Everything that can happen to the program's state: what a user does and what a worker answers. A log of these
// replays a session.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "math/attention.h"
#include "session/document.h"
#include "session/session_file.h"
#include "session/settings.h"
#include "session/view_state.h"

namespace headlight {

// The question. Edits of one kind that follow each other are one step of undo, until EndGesture or another kind.
struct SetText { std::string text; };
struct SetSplit { Split split; };                 // also gives up boundaries set by hand
struct ToggleCut { std::size_t offset = 0; };     // byte offset in the text
struct SetPad { std::size_t count = 0; };
struct SetConfig { Config config; };
struct SetScale { std::optional<float> scale; };
struct SetMask { bool causal = false, padding = true; };
struct GiveMask { std::shared_ptr<const Matrix> mask; };  // null takes it away
struct PaintCell { CellRef cell; bool allowed = false; };
struct ClearPaint {};
struct Reset {};                                  // the default sentence and the default model
struct EndGesture {};
struct Undo {};
struct Redo {};

// The look.
struct ChooseSentence { std::size_t sentence = 0; };
struct ChooseHead { HeadRef head; };
struct Hover { std::optional<HeadRef> head; std::optional<CellRef> cell; };
struct Pin { std::optional<CellRef> cell; };
struct SetColourScale { Scale scale; };
struct SetViewport { Viewport viewport; };
struct SetPainting { bool on = false; };
struct SetStroke { std::optional<bool> allowed; };
struct FocusText { bool on = false; };
struct ShowHelp { bool on = false; };
struct SetSettings { Settings settings; };

// Files. The step carries them out on a worker.
struct Browse { Browser::Purpose purpose = Browser::Purpose::none; std::string folder; };  // empty: where it was
struct NameFile { std::string name; };            // typed or chosen in the browser
struct OpenPath { std::string path; };
struct SaveSession { std::string path; };
struct ExportTo { std::string path; };            // the format follows the name's ending
struct CancelFileWork {};
struct Quit {};

// Answers.
struct TraceReady { std::shared_ptr<const Trace> trace; double milliseconds = 0; };
struct TraceFailed { Request request; std::string message; };
struct DetailReady { std::shared_ptr<const Trace> trace; Region region; Matrix weights; };
struct FolderListed { std::string folder; std::vector<Browser::Entry> entries; };
struct FileOpened { std::string path; Opened opened; };
struct FileSaved { std::string path; std::optional<Document> session; };  // the document that was saved; none: an export
struct FileFailed { std::string message; };
struct DismissNotice {};

using Command = std::variant<SetText, SetSplit, ToggleCut, SetPad, SetConfig, SetScale, SetMask, GiveMask, PaintCell,
                             ClearPaint, Reset, EndGesture, Undo, Redo, ChooseSentence, ChooseHead, Hover, Pin,
                             SetColourScale, SetViewport, SetPainting, SetStroke, FocusText, ShowHelp, SetSettings, Browse,
                             NameFile, OpenPath, SaveSession,
                             ExportTo, CancelFileWork, Quit, TraceReady, TraceFailed, DetailReady, FolderListed, FileOpened,
                             FileSaved, FileFailed, DismissNotice>;

using Commands = std::vector<Command>;

}  // namespace headlight
