// The contents of the view: which maps are wanted and drawn, which part of them, and which two answers are compared.
#pragma once

#include <algorithm>
#include <memory>

#include "derived/answer_comparison.h"
#include "derived/derived_maps.h"
#include "session/command.h"
#include "session/state.h"
#include "view/viewport.h"

namespace headlight {

/// More words than this beside a map are not read: their numbers stand there instead, and colours are logarithmic.
inline constexpr Index kMostWords = 40;

/// The scale of the colours: the chosen one, else logarithmic above kMostWords, where most weights are small.
Scale scale_of_colours(const AppState& state);

/// The kind of map to draw: weights in all views but those that draw the maps of all heads.
MapKind wanted_kind(const AppState& state);

/// The maps that are drawn of a stack of the answer on the screen, until those that are wanted are there perhaps of
/// another kind; null: its weights.
const DerivedMaps* shown_maps(const AppState& state, Stack stack);
MapKind shown_kind(const AppState& state, Stack stack);

/// What the stage of View::heads shows: what was chosen, else the sentence, of more than kUsualWordsOfStage words the
/// text, and the map beside a lesson, since lessons speak of rows and columns. Always the map where it is painted,
/// zoomed into or shows no weights; no sentence of more than kMostWordsOfStage words. Of other views: the map.
StageForm stage_form(const AppState& state);
inline bool shows_text(const AppState& state) { return stage_form(state) == StageForm::text; }
/// Whether the stage can show the sentence.
bool offers_sentence(const AppState& state);
/// What shades the text: the words that were chosen, else that of the pinned cell; none where there is neither.
ShadeChoice shade_choice(const ViewState& view);
/// The same; of a picture where nothing is chosen, its first token.
ShadeChoice shade_choice(const AppState& state);
/// How much of a picture the weights cover.
inline float cover_of(const AppState& state) { return std::clamp(state.view.text.cover, 0.0f, 1.0f); }
/// Whether the answer on the screen is about a picture.
bool shows_picture(const AppState& state);
/// What the chosen tokens of a picture look at in each head, where the maps of heads show that; null: they do not.
const PictureGrids* shown_grids(const AppState& state);

/// Whether every row and every column of the chosen stack's maps is one token, so that cells can be zoomed into and
/// painted: no word is merged, no sentence left out.
bool shows_tokens(const AppState& state);

/// The weight of a cell as the maps show it, of what is set by hand as it is set: of a word in pieces the sum.
float weight_of_words(const AppState& state, const HeadRef& head, const CellRef& cell);
/// Sets it, or takes it back: the pieces of a word share it as they share what the word has.
void set_weight_of_words(const AppState& state, Edits& edits, const SetWeight& wish);

/// What is compared with the answer on the screen: the one that was kept; else, where the question has edits, the same
/// without them, once it is known. Null where there is neither.
std::shared_ptr<const Trace> compared_trace(const AppState& state);
/// Whether what changed between A and B can be drawn over their words; whether it is: where it was chosen, or of up to
/// kUsualWordsOfStage words beside no lesson.
bool offers_changes(const AppState& state);
bool shows_changes(const AppState& state);
/// How the tokens of A and B belong together in what View::compare shows: maps, or what is taken from A.
Alignment drawn_alignment(const AppState& state);
/// Whether that is the question without its edits.
bool compares_edits(const AppState& state);

/// The answer against which Inside marks what moved: the one that is compared; else the one before the last edit, where
/// that changed a single word. Null where there is none.
std::shared_ptr<const Trace> moved_from(const AppState& state);

/// Whether a later attention looks at what a head wrote.
bool is_read_later(const Trace& trace, const HeadRef& head);
/// Whether all that was changed is heads switched off that no later attention looks at.
bool only_unread_heads_off(const AppState& state);

/// By what A and B are compared in View::compare, B being `trace`.
PatchMeasure patch_measure(const ViewState& view, const Trace& trace);

/// Whether the comparison is of the answers that are compared now, whichever head was looked at.
bool is_of_now(const AppState& state);

/// How the view groups the tokens of the chosen head's attention, in View::compare those of B. Null: each stands alone.
const Fold* fold_in_view(const AppState& state);

}  // namespace headlight
