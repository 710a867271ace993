// A Trace as a picture on a page: all heads of a stack, one of them large, lines between the words, or all heads of a
// large model small. Pure: from values to a Drawing; writing it is for paper/, showing it for gui/.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "derived/derived_maps.h"
#include "figure/drawing/drawing.h"
#include "question/answer_snapshot.h"
#include "view/settings.h"
#include "view/view_state.h"

namespace headlight {

struct FigureRequest;  // session/figure_request.h

/// Points in a millimetre.
inline constexpr float kPointsInMm = 72 / 25.4f;

/// A flow with more words on one side than this would be a page metres high.
inline constexpr Index kMostFlowWords = 2000;

/// The answer that a figure draws.
struct FigureSubject {
  const Trace& trace;
  const Document& document;            // what was asked: the model's name, what was measured of its heads
  const FoldedMaps* folded = nullptr;  // of `trace`; null: each token is one row and one column
  const DerivedMaps* other = nullptr;  // of `trace`; drawn instead of the weights where its stack has any
};

struct FigureOptions {
  FigureKind kind = FigureKind::grid;
  Theme theme = Theme::light;
  Language language = Language::en;
  Scale scale = Scale::linear;
  ColourMap colours = ColourMap::teal;
  float width = kColumnMm * kPointsInMm;  // of the page, in points
  HeadRef head = {};                      // the one that is drawn large; all others are of its stack
  std::vector<HeadRef> heads = {};  // of a flow; none: `head` alone. Of all heads: which, in this order; none: all
  HeadOrder order = {};             // the measure of that order, for the caption
  std::vector<std::optional<float>> numbers = {};  // the values of that measure, one a head; none: not written
  std::optional<Index> query = {}, key = {};  // the steps of which weight; none: the cell that the window begins with
  ShadeChoice shades = {};                    // of a text; its head is `head`
  float cover = kUsualCover;                  // of a picture: how much of it the weights cover
  LensWords lens = {};                        // of a lens: the words that are split
  PatchForm patch = PatchForm::heads;         // of a patch: its form …
  PatchMeasure measure = {};                  // … what it compares, …
  std::optional<Alignment> alignment = {};    // … and of two answers: which words belong together
  Look look = {};                             // of a matrix: which, and the cell whose terms are listed
  std::optional<std::vector<Index>> layers = {};  // of all heads, and of rollout: which layers; none: all of them
  bool caption = true;                            // is drawn below the figure; else it is Drawing::caption alone
  bool own_range = false;                         // the colours of each map end at its largest number
  std::optional<ColourRange> range = {};          // or all begin and end here
  float threshold = 0.05f;                        // of a flow: lines of smaller weights are left out
  Progress* progress = nullptr;                   // of what is computed for it; null: not shown, and nothing stops it
};

/// Errors: a head, a stack, a matrix, a query or a key that the answer does not have; a flow of more than
/// kMostFlowWords words.
Result<Drawing> draw_figure(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure);

/// One head in two answers: A, B and B − A on the joint axes of both sentences. Errors: a sentence of more than
/// kMostAligned tokens, a head that one of them does not have.
Result<Drawing> draw_comparison(const AnswerSnapshot& a, const AnswerSnapshot& b, const FigureOptions& options,
                                const TextWidth& measure, FoldChoice fold = {});

/// Activation patching from A into B (derived/patch_map.h). Errors: those of patch_map.
Result<Drawing> draw_patch(const AnswerSnapshot& a, const AnswerSnapshot& b, const FigureOptions& options,
                           const TextWidth& measure);
/// The colours of its shares; and the line above it: the metric in A and in B, and whether these hardly differ.
ColourScale patch_scale(Theme theme, const PatchMap& map);
std::string patch_line(Language language, const PatchMap& map);

/// The colour scale of all heads of an answer: from 0 to a round number above the largest weight.
ColourScale weight_scale(const Trace& trace, const FoldedMaps* folded, Theme theme, Scale scale);

/// The figure that the window asks for.
FigureOptions figure_options(const FigureRequest& order);
/// Draws that figure. Errors also: nothing to compare with.
Result<Drawing> draw_ordered(const FigureRequest& order, const TextWidth& measure, Progress* progress = nullptr);

}  // namespace headlight
