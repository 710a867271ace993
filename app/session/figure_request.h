// A figure of the window as a value: everything that it depends on, so that a worker can draw it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "base/progress.h"
#include "derived/derived_maps.h"
#include "derived/fold.h"
#include "question/answer_snapshot.h"
#include "view/settings.h"
#include "view/view_state.h"
#include "write/export.h"

namespace headlight {

struct AppState;       // session/state.h
struct Drawing;        // figure/drawing/drawing.h
struct FigureOptions;  // figure/figure.h

/// What a tool shows in its view, as a figure.
struct ToolPicture {
  std::string source;  // `headlight figure SOURCE` draws it, too
  /// Takes the widths of texts as figure/drawing/drawing.h has them (TextWidth).
  std::function<Drawing(const FigureOptions&, const std::function<float(std::string_view, float)>&)> draw;
};

struct FigureRequest {
  std::shared_ptr<const Trace> trace;        // what is on the screen; null: nothing yet
  FoldChoice fold;                           // of its maps; figures have special tokens, whatever the window folds
  std::shared_ptr<const DerivedMaps> other;  // derived maps of `trace`; null: its weights are shown
  std::optional<AnswerSnapshot> compared;    // what it is compared with; nothing where there is nothing
  Document document;
  std::optional<Index> step;                        // of the training whose model answered
  std::shared_ptr<const ToolPicture> instead = {};  // drawn in place of the answer; null: the answer
  ViewState view;
  std::vector<HeadRef> heads;                 // the order that they are shown in; empty: that of their layers
  std::vector<std::optional<float>> numbers;  // by which they are in that order
  FigureKind kind = FigureKind::grid;
  float width = kColumnMm;  // in millimetres
  Theme theme = Theme::light;
  ColourMap colours = ColourMap::teal;
  Language language = Language::en;
};

/// The picture of what the view shows; of a training, and of two answers where there is none to compare with, that of
/// all heads.
FigureKind seen_figure(const AppState& state);

/// The input of the window's figure now.
FigureRequest figure_order(const AppState& state);

/// What a file will be, before it is written.
struct FigurePicture {
  std::shared_ptr<const Drawing> drawing;  // the scene that is written; null: a page
  std::size_t bytes = 0;                   // of the file; of a page about
};

/// Draws it as the file of that name would be; writes nothing.
using PreviewFigure =
    std::function<Result<FigurePicture>(const FigureRequest&, const std::filesystem::path&, Progress& progress)>;

/// A file that the browser would write.
struct FileQuestion {
  std::optional<FigureRequest> figure;  // nothing: numbers …
  std::shared_ptr<const Trace> trace;   // … of this answer
  ExportPart part = ExportPart::all;
  HeadRef head;
  std::string ending;  // of its name, in small letters
};
bool operator==(const FileQuestion& a, const FileQuestion& b);

struct FilePreview {
  FileQuestion question;
  FigurePicture picture;
  std::optional<Error> problem;  // why it cannot be written
};

/// The largest export, in numbers of attention, whose size is shown before it is written: larger files take seconds.
inline constexpr std::size_t kMostCounted = std::size_t{1} << 20;

/// How many weights of attention the browser would export.
std::size_t numbers_of_attention(const AppState& state);

/// What an export writes.
struct ExportedNumbers {
  Document document;
  std::vector<Request> requests;
  ExportOptions options = {};
  std::shared_ptr<const Trace> known;  // the answer to one of them; null: none
};
/// What the browser would export: all that is asked, or the chosen head of the sentence that is looked at.
ExportedNumbers exported_numbers(const AppState& state);
Status write_numbers(const ExportedNumbers& numbers, const std::filesystem::path& path, Progress& progress);
/// How many bytes they will have: they are written to a file that nothing reads, as only what was written is known to
/// the byte.
Result<FigurePicture> size_of_export(const ExportedNumbers& numbers, const std::string& ending, Progress& progress);

/// The file that the browser would write now; nothing while it writes none, or where its size is not shown.
std::optional<FileQuestion> file_question(const AppState& state);

/// Draws and writes it; the format follows the name's ending. Called on one thread at a time. Stopped by
/// `progress.stop` it is an Error, and nothing was written.
using DrawFigure = std::function<Status(const FigureRequest&, const std::filesystem::path&, Progress& progress)>;

}  // namespace headlight
