// The consequences of a change of the state: functions with which update.cpp's commands keep the state consistent.
#pragma once

#include <string_view>
#include <vector>

#include "session/state.h"

namespace headlight {

/// The sentence of the first window in English, as kDefaultSentence is in Chinese: both have ten tokens.
inline constexpr std::string_view kEnglishSentence = "The animal didn't cross the street because it was tired";
/// The document of a first window, and of Reset: the sentence of the language, and the first of the models.
Document first_document(const BundledModels* models, Language language);

// Undo.
/// Before the document changes: edits of the same kind join the gesture, others begin a new one.
Document& edited(AppState& state, CommandKind kind);
/// The edits that are going on become one step of undo.
void end_gesture(AppState& state);
/// One step of undo, or back: the document becomes the last of `from`, and what it was the last of `to`.
void step_through(AppState& state, std::vector<Document>& from, std::vector<Document>& to);

// The question.
/// After the document changed: updates the requests, and fits the look to them.
void ask_again(AppState& state);
/// After the sentence changed: the model that suits it. A model that cannot be read leaves the one that answers.
void choose_by_sentence(AppState& state);
/// After the document, the sentence or the prefix changed.
void cut_prefix(AppState& state);
/// Appends the word that the answer gives, if one is still to be generated.
void generate(AppState& state);
void stop_generating(AppState& state);
/// Requests the check that the document's checkpoint was loaded correctly.
void await_check(AppState& state, std::vector<Error> warnings);

/// The trained model to go back to from a shape that has none: the one before, else the nearest; null: there is none.
const BundledModel* trained_before(const AppState& state);

/// Edits of single heads and cells belong to a model and its words: where the document's model has other heads or reads
/// other words than one of this shape, they are dropped.
void drop_foreign_edits(Document& document, const Config& before);

// The answer, and the look at it.
/// Chooses the head and pins the cell of start_cell.h where the state awaits it and the answer is there; without one,
/// the first head. A change of the text awaits it again until the user chooses a head or pins a cell.
void choose_start(AppState& state);
/// Moves the pinned cell from the answer before to the same words of this one, or lets it go (session/typing.h).
void move_pin(AppState& state, const Trace& before);
/// Sets the answer to the question without edits: the answer itself where it has none.
void keep_baseline(AppState& state);
/// Keeps chosen head, cell and what is zoomed to inside the answer.
void fit_view(AppState& state);
/// The maps of the answer as they are wanted; of long sentences as they are, until a worker has folded them.
void fold_maps(AppState& state);
/// Chooses a head; cells and parts of another attention are let go.
void choose_head(ViewState& view, const HeadRef& head);
/// Looks at a matrix; the head that it belongs to becomes the chosen one.
void look_at(ViewState& view, Look look);

/// Where the look asked for it: chooses the head that differs most, once the two answers are compared.
void seek_most_changed(AppState& state);
/// Keeps an answer, or a question whose answer is to be found, as A of View::compare.
void keep(AppState& state, AnswerSnapshot answer);
/// Keeps the answer on the screen. Does nothing while it is stale.
void keep_answer(AppState& state);
/// Asks A's question again, and keeps the answer on the screen as A.
void swap_kept(AppState& state, CommandKind kind);

}  // namespace headlight
