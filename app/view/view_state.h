// The view. It is no part of the question, is not undone, and is not stored in a widget.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/index.h"
#include "base/result.h"
#include "code/program.h"
#include "derived/answer_comparison.h"
#include "derived/derived_maps.h"
#include "derived/fold.h"
#include "derived/head_stats.h"
#include "derived/inside.h"
#include "derived/layer_lens.h"
#include "derived/patch_map.h"
#include "derived/shades.h"
#include "math/generate.h"
#include "read/external/own_numbers.h"

namespace headlight {

enum class Scale { linear, log };

/// The views of the window: every head of every layer; the data flow through one of them; the lines between the
/// words; every head beside a training; a snapshot of an answer beside the current answer; the layer as a program; a
/// study of many sentences.
enum class View { heads, inside, flow, train, compare, code, study };

/// What View::inside shows: the steps behind the pinned weight, what wrote its score, the guess after each layer, or
/// the data flow of the layer.
enum class InsideTab { numbers, why, lens, diagram };

/// Whether one matrix of the model is looked at, and a cell of it.
inline bool looks_at_matrices(View view) { return view == View::inside || view == View::code; }

/// Whether special tokens and pieces of words are folded in a view (derived/fold.h): where weights are shown alone.
inline bool folds_tokens(View view) { return !looks_at_matrices(view) && view != View::compare; }

/// How View::heads shows the heads of a stack: of many those that show most of the sentence, as large maps; all of
/// them, as small as they must be; how well each layer shows each relation.
enum class GridShow { maps, all, relations };

/// The contents of a file of numbers: the whole question; the attention of the chosen head of the sentence that is
/// looked at.
enum class ExportPart { all, head };

/// The control that the Tab key went to: its number in Dear ImGui, its name in the window. 0: none.
struct ControlFocus {
  std::uint32_t item = 0;
  std::string name;
  friend bool operator==(const ControlFocus&, const ControlFocus&) = default;
};

/// The list of everything that can be done: what was typed to find an entry, and which of those found is chosen.
struct CommandPalette {
  std::string query;
  std::size_t chosen = 0;
  friend bool operator==(const CommandPalette&, const CommandPalette&) = default;
};

/// The dialog for typed numbers: the table that is typed, and why the last text was not taken.
struct NumbersDialog {
  OwnTable table = OwnTable::x;
  std::size_t head = 0;  // of w_q, w_k, w_v
  std::string text;
  std::optional<Error> problem;
  /// `beside` with tables in it that do not fit together yet; null: none. They are forgotten when other numbers are
  /// asked about.
  std::shared_ptr<const OwnNumbers> waiting = {}, beside = {};
  friend bool operator==(const NumbersDialog&, const NumbersDialog&) = default;
};

/// A step of a lesson (lesson/lesson.h), both counted from 0.
struct LessonPosition {
  std::size_t lesson = 0, step = 0;
  friend bool operator==(const LessonPosition&, const LessonPosition&) = default;
};

/// The same as files have it: the lesson's name and its file. Without a name: none is read.
struct LessonMark {
  std::string name, path;
  std::size_t step = 0;
  friend bool operator==(const LessonMark&, const LessonMark&) = default;
};

/// The figures that can be written: all heads of a stack, the sentence, one head large, the text shaded, lines between
/// the words, all heads small, one head in two answers, what of A brings it back in B, the steps behind one weight,
/// what wrote its score, the guess after each layer, the data flow diagram, one matrix of it.
enum class FigureKind {
  grid,
  sentence,
  head,
  text,
  flow,
  layers,
  compare,
  changes,
  patch,
  steps,
  writers,
  lens,
  diagram,
  matrix
};

/// Whether such a picture has all heads of a stack, which can be sorted.
inline bool shows_all_heads(FigureKind kind) { return kind == FigureKind::grid || kind == FigureKind::layers; }

/// Whether such a picture is of two answers.
inline bool shows_two(FigureKind kind) {
  return kind == FigureKind::compare || kind == FigureKind::changes || kind == FigureKind::patch;
}

/// Whether such a picture has maps or lines of one answer's heads, whose tokens can be folded.
inline bool shows_folds(FigureKind kind) {
  return kind != FigureKind::steps && kind != FigureKind::writers && kind != FigureKind::lens &&
         kind != FigureKind::diagram && kind != FigureKind::matrix && !shows_two(kind);
}

/// Whether such a picture has the colours of weights, whose ends can be given.
inline bool colours_weights(FigureKind kind) {
  return shows_all_heads(kind) || kind == FigureKind::head || kind == FigureKind::text;
}

/// The part of the pattern that a large map shows, in cells; zero sizes: all of it.
struct Viewport {
  Index first_query = 0, num_queries = 0;
  Index first_key = 0, num_keys = 0;
  friend bool operator==(const Viewport&, const Viewport&) = default;
};

/// The settings of View::flow for the chosen head's layer.
struct FlowLook {
  std::optional<std::vector<Index>> heads = {};  // ascending; nothing: the chosen one alone
  float threshold = 0.05f;                       // lines of smaller weights are left out

  friend bool operator==(const FlowLook&, const FlowLook&) = default;
};

/// What the stage of View::heads shows: the sentence with the arcs of all heads, the map of one head, or the text
/// itself, shaded by weights.
enum class StageForm { sentence, map, text };
/// Words of a sentence that the stage shows unless another form is chosen, and at most.
inline constexpr Index kUsualWordsOfStage = 40, kMostWordsOfStage = 60;

/// How much of a picture weights cover unless another share is chosen.
inline constexpr float kUsualCover = 0.65f;

/// The form of the stage, and how its text is shaded.
struct TextLook {
  std::optional<StageForm> form = {};  // nothing: stage_form (session/shown.h) chooses
  std::optional<float> arcs = {};      // arcs without a name from this weight up; nothing: as many as can be told apart
  float cover = kUsualCover;           // of a picture: how much of it the weights cover
  bool columns = false;                // ShadeChoice has the next three
  ShadeHeads heads = ShadeHeads::head;
  std::vector<Index> words = {};  // none: the word of the pinned cell

  friend bool operator==(const TextLook&, const TextLook&) = default;
};
/// The settings of activation patching from A into B in View::compare.
struct PatchLook {
  bool on = false;  // the map of what is restored, instead of the maps of the heads
  PatchForm form = PatchForm::heads;
  bool stopped = false;  // the remaining rows are not computed
  std::optional<Metric> metric = {};
  LensWords words = {};                // PatchMeasure has the three
  std::optional<bool> at_pinned = {};  // its word is the pinned one; nothing: of an encoder without a hidden word

  friend bool operator==(const PatchLook&, const PatchLook&) = default;
};

/// The settings of View::code for the chosen head's layer.
struct CodeLook {
  Dialect dialect = Dialect::numpy;
  bool block = false;  // the whole block: norms, residual sums and feed-forward

  friend bool operator==(const CodeLook&, const CodeLook&) = default;
};

/// The numbers at both ends of the colours, as they were asked for.
struct ColourRange {
  float from = 0, to = 1;
  friend bool operator==(const ColourRange&, const ColourRange&) = default;
};
/// `0,0.5` or `-1,1`; and the reverse.
Result<ColourRange> parse_range(std::string_view text);
std::string range_text(const ColourRange& range);

/// The parts of a view that belong to no question: a window begins with those of the last one.
struct Layout {
  View view = View::heads;
  GridShow grid = GridShow::maps;
  MapKind maps = MapKind::weights;
  FoldChoice fold;
  Scale scale = Scale::linear;         // scale_of_colours (session/shown.h) is what is drawn
  bool chose_scale = false;            // by the user: linear holds for long texts, too
  bool own_range = false;              // each map's colours end at its largest value, not at that of all maps
  InsideTab tab = InsideTab::numbers;  // of View::inside
  bool gradients = false;              // in it the gradients of rows and how many steps two words are apart
  DifferenceOrder differences = DifferenceOrder::largest;

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// An earlier look, to go back to.
struct LookedAt {
  View view = View::inside;
  Look look;
  InsideTab tab = InsideTab::numbers;
  HeadRef head;  // the chosen one
  std::optional<CellRef> pinned = {};

  friend bool operator==(const LookedAt&, const LookedAt&) = default;
};

struct ViewState : Layout {
  std::size_t sentence = 0;  // of a batch
  std::size_t prefix = 0;    // only the first tokens of what the decoder reads are asked about; 0: all
  HeadRef chosen;            // the enlarged head
  std::optional<HeadRef> hovered_head;
  std::optional<CellRef> hovered;  // lights up in every head of its stack
  std::optional<CellRef> pinned;
  std::optional<CellRef> hovered_kept, pinned_kept;  // in View::compare: cells of A that the answer on the screen lacks
  Viewport viewport;
  Viewport compared;                 // the same of the three maps of View::compare, on their joint axes
  std::optional<bool> changes = {};  // … in place of which arcs over the words show what changed; nothing: of few words
  bool one_layer = false;            // the controls of mask and scale act on the chosen head's layer alone
  bool painting = false;             // a click on the enlarged head paints the mask instead of pinning
  std::optional<bool> stroke;        // while a stroke is painted: what it sets cells to, true = may attend
  bool focus_text = false;           // the sentence box is to take the keyboard, its text selected …
  std::string typed;                 // … or, where this is not empty, replaced by it
  CodeLook code;                     // in View::code
  LensWords lens;                    // of InsideTab::lens
  PatchLook patch;                   // of View::compare …
  std::optional<Alignment> alignment =
      {};     // … and of its maps: which words belong together; nothing: by word, of a patch as patch_alignment
  Look look;  // in View::inside and View::code
  std::vector<LookedAt> looked;            // the earlier looks to go back to, the last at the end
  std::string own_word;                    // that the reader tries in place of one of the sentence's
  std::string word;                        // whose probability is searched for among the next words
  Sampling sampling;                       // how words are chosen when the decoder writes on
  std::optional<std::size_t> inside_line;  // which of the five lines of that story is open
  bool help = false;                       // the overlay with the keys
  HeadOrder order;                         // of the heads in the grid
  HeadSearch find;                         // heads that are looked for
  bool focus_find = false;                 // the search is to take the keyboard
  FlowLook flow;                           // in View::flow
  TextLook text;                           // in View::heads
  std::optional<ColourRange> range;        // of the colours of weights, in place of their own
  std::optional<LessonPosition> lesson;    // that is being read
  ControlFocus focus;                      // with a ring around it
  std::string pointed;                     // the control that the lesson's text points at; empty: none
  std::optional<NumbersDialog> numbers;    // while it is open
  std::optional<CommandPalette> palette;   // the list of everything that can be done, while it is open

  friend bool operator==(const ViewState&, const ViewState&) = default;
};
/// Whether one matrix is looked at in it: in View::inside beside the steps and the data flow alone.
inline bool shows_matrix(const ViewState& view) {
  const bool of_parts = view.tab == InsideTab::why || view.tab == InsideTab::lens;
  return looks_at_matrices(view.view) && !(view.view == View::inside && of_parts);
}
inline const Layout& layout_of(const ViewState& view) { return view; }
/// What is folded on the screen: masks belong to single tokens, so words are not merged while one is painted. In
/// Compare rows are not scaled, and no part of a pair is shown by itself.
inline FoldChoice drawn_fold(const ViewState& view) {
  if (view.view == View::compare) return {.special = view.fold.special, .words = view.fold.words};
  FoldChoice fold = view.fold;
  fold.words &= !view.painting;
  return fold;
}

/// How wide figures are, in millimetres: a column of a paper, a slide; the least and the most.
inline constexpr float kColumnMm = 85, kSlideMm = 254, kLeastMm = 40, kMostMm = 1000;

/// The file browser, for opening, saving and exporting, for figures, and for a text to train on.
struct Browser {
  enum class Purpose { none, open, save, export_to, figure, corpus } purpose = Purpose::none;
  std::string folder;
  std::string name;  // the chosen or typed file name; may be a whole path

  bool as_a = false;  // of Purpose::open: what is opened becomes A of View::compare

  /// The list of Purpose::open.
  enum class List { shipped, recent, trained, disk, folders } list = List::folders;

  struct Entry {
    std::string name;
    bool folder = false;
    bool opens = false;     // a file, or a folder that holds a model: a click opens it
    std::string what = {};  // what it holds, `BERT, 12×12`; empty where that is not known
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::optional<std::vector<Entry>> models;  // of List::disk, once they were looked for
  std::vector<Entry> entries;                // of `folder`: folders first, then files, by name
  FigureKind figure = FigureKind::grid;      // what Purpose::figure writes …
  float width = kColumnMm;                   // … this wide, in millimetres
  std::optional<bool> dark;                  // … in the dark theme, in the light one, or in the window's
  ExportPart part = ExportPart::all;         // what Purpose::export_to writes
};

}  // namespace headlight
