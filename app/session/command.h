// Everything that can happen to the program's state: what a user does and what a worker answers. A log of these
// replays a session.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "base/progress.h"
#include "math/generate.h"
#include "question/document.h"
#include "session/file/open_file.h"
#include "view/settings.h"
#include "view/view_state.h"

namespace headlight {

/// A cell of the numbers that were typed.
struct OwnCell {
  OwnTable table = OwnTable::x;
  std::size_t head = 0;
  Index row = 0, column = 0;
  friend bool operator==(const OwnCell&, const OwnCell&) = default;
};

// A command is one line.
// clang-format off
struct AppState;  // session/state.h

/// Sets a member of a part of the state: the commands that do nothing else. Part::look is what the user looks at,
/// which replaces the look of a session being opened.
enum class Part { document, edits, view, look, browser };
template <class Value, class Of> Value value_of(Value Of::*);
template <Part part, auto member> struct Set { decltype(value_of(member)) value = {}; };

// The question. Edits of one kind that follow each other are one step of undo, until EndGesture or another kind.
struct SetText { std::string text; };
struct SetTarget { std::string text; };           // of the decoder of an encoder-decoder
// sentence B of a pair, a line for each line of the text
using SetTextPair = Set<Part::document, &Document::text_pair>;
struct SetChat { Chat chat; };                    // a conversation instead of the text; no turns: the text again
struct SetSplit { Split split; };                 // also gives up boundaries set by hand
struct ToggleCut { std::size_t offset = 0; TextSide side = TextSide::source; };  // byte offset in the text
struct SetIds {                                   // what a checkpoint reads
  std::vector<std::int64_t> ids;
  TextSide side = TextSide::source;
  std::optional<std::vector<int>> types = {};     // of the source's ids; nothing: they keep those they have
  std::vector<std::size_t> cuts = {};             // TextInput::id_cuts
};
using SetTokenTypes = Set<Part::document, &Document::token_types>;
using SetPad = Set<Part::document, &Document::pad>;
struct SetConfig { Config config; };
struct UseTrained { bool on = true; };            // a shipped model, the nearest in shape; else fresh weights
using SetScale = Set<Part::edits, &Edits::scale>;
// Of one layer where `layer` is given: it gets a separate mask, at first a copy of its stack's.
struct SetMask { bool causal = false, padding = true; Stack stack = Stack::self; std::optional<Index> layer = {}; };
struct GiveMask { std::shared_ptr<const Matrix> mask; Stack stack = Stack::self; std::optional<Index> layer = {}; };
struct PaintCell { CellRef cell; bool allowed = false; Stack stack = Stack::self; std::optional<Index> layer = {}; };
struct ClearPaint { Stack stack = Stack::self; std::optional<Index> layer = {}; };
struct SetLayerScale { Stack stack = Stack::self; Index layer = 0; std::optional<float> scale; };
struct ClearLayer { Stack stack = Stack::self; Index layer = 0; };  // its mask, scale and parts are its stack's again
struct SwitchHead { HeadRef head; bool off = true; };
struct SwitchPart { Stack stack = Stack::self; Index layer = 0; BlockPart part = {}; bool off = true; };
struct SwitchPartsOn {};  // in every layer
struct SwitchAllOn {};
using SetOffAs = Set<Part::edits, &Edits::off_as>;
struct SetWeight { HeadRef head; CellRef cell; std::optional<float> weight; };  // nothing takes the edit away
struct ClearWeights { std::optional<HeadRef> head; };  // of one head, or of all
struct SetDropout { float probability = 0; std::uint64_t seed = 0; };
struct TakeNumbers { OwnTable table = OwnTable::x; std::size_t head = 0; std::string text; };  // empty: the table goes
struct SetOwnNumber { OwnCell cell; float value = 0; };
struct ClearEdits {};                             // edits and painted cells of every stack
struct AppendWord { Candidate word; };            // to what the decoder reads, in the sentence that is looked at
struct Generate { Index count = 1; Sampling sampling = {}; };  // word after word, each as soon as the last is answered
struct StopGenerating {};
struct Reset {};                                  // the default sentence and the default model
struct EndGesture {};
struct Undo {};
struct Redo {};

// The look.
struct ChoosePrefix { std::size_t count = 0; };   // the first tokens of what the decoder reads; 0: all
struct ChooseSentence { std::size_t sentence = 0; };
struct ChooseHead { HeadRef head; };
struct ChooseStart {};                            // start_cell.h, once there is an answer
// `kept`: in View::compare, a cell of A that the answer on the screen lacks.
struct Hover { std::optional<HeadRef> head; std::optional<CellRef> cell; std::optional<CellRef> kept = {}; };
struct Pin { std::optional<CellRef> cell; std::optional<CellRef> kept = {}; };
struct SetColourScale { Scale scale; };
using SetOwnRange = Set<Part::look, &ViewState::own_range>;
using SetRange = Set<Part::look, &ViewState::range>;
using SetGradients = Set<Part::look, &ViewState::gradients>;
using ShowMaps = Set<Part::look, &ViewState::maps>;
using ShowGrid = Set<Part::look, &ViewState::grid>;
struct SetFold { FoldChoice fold; };
using SetViewport = Set<Part::look, &ViewState::viewport>;
using SetComparedPart = Set<Part::view, &ViewState::compared>;  // of the maps of View::compare
using ShowChanges = Set<Part::look, &ViewState::changes>;  // of View::compare
using SetScope = Set<Part::look, &ViewState::one_layer>;
using SetSampling = Set<Part::look, &ViewState::sampling>;
using SearchWord = Set<Part::look, &ViewState::word>;
using SetPainting = Set<Part::view, &ViewState::painting>;
using SetStroke = Set<Part::view, &ViewState::stroke>;
struct FocusText { bool on = false; std::string typed = {}; };  // typed: replaces the sentence
struct ShowView { View view = View::heads; };
// a matrix of the answer: its head becomes the chosen one; where they are given, the cell is pinned and the tab shown
struct LookAt { Look look; std::optional<CellRef> pin = {}; std::optional<InsideTab> tab = {}; };
struct LookBack {};
using SetCode = Set<Part::look, &ViewState::code>;  // what View::code writes
// of the story behind the pinned weight; none: closes it
using OpenInsideLine = Set<Part::look, &ViewState::inside_line>;
using SetPatch = Set<Part::look, &ViewState::patch>;
using SetAlignment = Set<Part::look, &ViewState::alignment>;  // of the words of A and B
using SetLens = Set<Part::look, &ViewState::lens>;
using ShowTab = Set<Part::look, &ViewState::tab>;
using ShowHelp = Set<Part::view, &ViewState::help>;
struct SetSettings { Settings settings; };
using OrderHeads = Set<Part::look, &ViewState::order>;
using FindHeads = Set<Part::look, &ViewState::find>;
using FocusFind = Set<Part::view, &ViewState::focus_find>;
using SetFlow = Set<Part::look, &ViewState::flow>;
using SetTextLook = Set<Part::look, &ViewState::text>;
using TryWord = Set<Part::look, &ViewState::own_word>;
using ShowNumbers = Set<Part::view, &ViewState::numbers>;
using ShowPalette = Set<Part::view, &ViewState::palette>;

// An answer kept to be compared with what comes after it.
struct KeepAnswer {};                             // the one on the screen becomes A
struct SwapKept {};                               // A's question is asked again, and what was asked becomes A
struct DropKept {};
using OrderDifferences = Set<Part::look, &ViewState::differences>;

// Lessons. Each step sets the question and the look, as one step of undo.
struct OpenLesson { std::optional<std::size_t> lesson; };  // at its first step; none: leaves it
struct GoToStep { std::size_t step = 0; };
using FocusControl = Set<Part::view, &ViewState::focus>;  // by the Tab key
using PointAt = Set<Part::view, &ViewState::pointed>;  // a control that the lesson speaks of; empty: none

// Files. The step carries them out on a worker.
// `folder`: empty: where it was. `as_a`: what is opened becomes A of View::compare; what was open stays B.
struct Browse { Browser::Purpose purpose = Browser::Purpose::none; std::string folder; bool as_a = false; };
using NameFile = Set<Part::browser, &Browser::name>;  // typed or chosen in the browser
struct OpenPath { std::string path; bool as_a = false; };
struct SaveSession { std::string path; };
struct ExportTo { std::string path; };            // the format follows the name's ending
using ChooseExport = Set<Part::browser, &Browser::part>;
struct ChooseFigure { FigureKind kind = FigureKind::grid; float width = kColumnMm; std::optional<bool> dark = {}; };
using ChooseList = Set<Part::browser, &Browser::list>;  // the list of the dialog for opening
struct FigureTo { std::string path; };            // the format follows the name's ending
struct CancelFileWork {};
struct Quit {};

// Answers.
struct Answered { std::function<void(AppState&)> take; };  // of a question of session/answers.h, made by reply()
struct ModelsListed { std::vector<Browser::Entry> models; };  // those of this disk that can be opened by name
struct FolderListed { std::string folder; std::vector<Browser::Entry> entries; };
struct FileOpened { std::string path; OpenFile opened; bool as_a = false; };
// the document that was saved; none: an export
struct FileSaved { std::string path; std::optional<Document> session; };
struct FileFailed { Error error; };
// of OpenPath: what was open stays, but is not looked at
struct OpenFailed { std::string path; Error error; std::string text = {}; };
struct ShowFailure { bool details = false; };      // more of it, or less
struct LeaveFailure {};                            // back to what was open before
struct Copied { std::string text; };              // into the clipboard
struct Changed { std::string text; };             // what the edits before it changed, which Undo takes back
struct DismissNotice {};

/// Which command it is: its type. A tool's commands are types of the tool.
using CommandKind = const std::type_info*;
template <class T>
inline constexpr CommandKind command_kind = &typeid(T);
/// Whether a kind is that of one of these commands.
template <class... T>
bool is_one_of(CommandKind kind) {
  return ((kind == command_kind<T>) || ...);
}

/// One of these, or of a tool's, on the heap. Its handler (session/handlers.h) carries it out.
class Command {
 public:
  template <class T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, Command>)
  Command(T&& one) : held_(std::make_unique<Held<std::remove_cvref_t<T>>>(std::forward<T>(one))) {}
  Command(const Command& other) : held_(other.held_->copy()) {}
  Command(Command&&) noexcept = default;
  Command& operator=(const Command& other) { return *this = Command(other); }
  Command& operator=(Command&&) noexcept = default;
  ~Command() = default;

  CommandKind kind() const { return held_->kind; }

  /// The command where it is a T, else null.
  template <class T>
  const T* as() const {
    return kind() == command_kind<T> ? &static_cast<const Held<T>&>(*held_).value : nullptr;
  }

  template <class T>
  T* as() {
    return const_cast<T*>(std::as_const(*this).as<T>());
  }

 private:
  struct AnyHeld {
    explicit AnyHeld(CommandKind k) : kind(k) {}
    virtual ~AnyHeld() = default;
    virtual std::unique_ptr<AnyHeld> copy() const = 0;
    const CommandKind kind;
  };
  template <class T>
  struct Held final : AnyHeld {
    explicit Held(T one) : AnyHeld(command_kind<T>), value(std::move(one)) {}
    std::unique_ptr<AnyHeld> copy() const override { return std::make_unique<Held>(value); }
    T value;
  };
  std::unique_ptr<AnyHeld> held_;
};

using Commands = std::vector<Command>;

/// The work of a worker; a job that was stopped gives nothing.
using Job = std::function<std::optional<Command>(Progress&)>;
// clang-format on

}  // namespace headlight
