// The whole state of the program as one value, and what follows from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/finding.h"
#include "models/bundled_models.h"
#include "session/answers.h"
#include "tool/parts.h"

namespace headlight {

struct Lesson;  // lesson/lesson.h
struct Mistake;

/// A line for the user at the foot of the window, until it is dismissed or replaced.
struct Notice {
  enum class Kind { opened, saved, exported, restored, copied, changed, failed } kind = Kind::failed;
  std::string text;  // a path, or what went wrong; further lines add details. Of a change it may be empty: then it
                     // is what differs from the last step of undo
  ErrorCode code = ErrorCode::bad_value;  // of a failure
};

/// The notice of a failure; of several: a line each, the first one is explained.
Notice notice_of(const Error& error);
Notice notice_of(const std::vector<Error>& errors);

/// Generation that goes on: words left.
struct Generation {
  Index left = 0;
  Sampling sampling;
};

/// A checkpoint that was loaded, and the warnings of loading it (session/model_check.h has what was found about it).
struct LoadedModel {
  std::weak_ptr<const Model> model;
  std::vector<Error> warnings;
};

/// A model that a tool makes while the window is open, and that changes by itself.
struct LiveModel {
  std::string folder;  // Document::model_path of what it answers; empty: it did not begin
  bool goes_on = false;
  Index step = 0, newest = 0;  // steps that were taken, and the one after which its newest model was
  std::optional<Index> shown;  // the step that is looked at; none: the newest
};

/// A file or folder that could not be opened: a card instead of the maps, until something is opened or it is left.
struct OpenFailure {
  std::string path;       // what was to be opened …
  Error error;            // … and what is wrong with it
  bool details = false;   // the error's line is shown
  std::string text = {};  // of a session whose model is not there: the sentence that it asks about
};

/// … and the answers: trace, inside, flow and the others (session/answers.h).
struct AppState : Answers {
  const Lexicon* lexicon = nullptr;              // what the words are cut by; not null
  std::shared_ptr<const BundledModels> shipped;  // the trained models that came along; null: none

  Document document;
  std::vector<Document> undo, redo;
  std::optional<Document> gesture;  // the document before the edits that are still going on
  CommandKind gesture_kind = {};    // which Command those edits are

  ViewState view;
  std::optional<ViewState> opened_view;  // the look of a session just opened, until there is an answer that it fits
  Settings settings;

  std::vector<Request> requests;  // what the document asks, one a sentence; empty where it cannot be asked
  std::optional<Error> problem;   // … and why
  std::optional<Request> prefix;  // the part of it that is looked at, where the look has a prefix

  std::shared_ptr<const Trace> before_edit;  // the answer before the last edit, of a sentence that is not long
  std::vector<LoadedModel> loaded;           // one a checkpoint of the document and of its undo
  std::optional<Generation> generation;      // goes on at every answer; an edit by hand and an error end it

  Parts parts;                                                // what tools add
  std::optional<LiveModel> live;                              // the one that is made now, or was made last
  std::shared_ptr<const OwnNumbers> checked_numbers;          // that were typed, and what cannot be right about them
  std::shared_ptr<const std::vector<Mistake>> numbers_found;  // null where nothing can check them
  bool awaits_start = false;        // the next answer chooses the head and the cell to begin with (start_cell.h)
  bool chose_start = false;         // … as an answer did, and the user chose neither since
  bool seeks_most_changed = false;  // the next comparison chooses the head that differs most
  std::shared_ptr<const std::vector<Lesson>> lessons;  // that can be read; null: none

  Browser browser;
  std::optional<OpenFailure> open_failure;
  bool shows_problem = false;  // the card shows the line with the reason why the question cannot be asked
  std::string session_path;    // where Save writes
  Document saved_document;     // as it was saved or opened last
  std::optional<Notice> notice;
  bool quit = false;
};

/// All that the document asks about the sentence that is looked at: wanted() without the prefix.
const Request* whole_request(const AppState& state);

/// Whether the answer on the screen was computed with edits, so that there is a before and an after.
bool is_edited(const AppState& state);

/// Whether the model can predict a next word: it has an output layer.
bool can_say_words(const AppState& state);

/// The arcs of the answer that have names; none until they are known.
const SentenceArcs& arcs_of(const AppState& state);

/// Whether the answer's weights are random: nothing was learned.
bool is_random(const AppState& state);

/// Longer sentences are not compared with others.
inline constexpr std::size_t kMostNearWords = 100;

/// The words of the sentence that is looked at, where some of them are unknown to a model that knows whole words.
std::optional<std::vector<std::string>> partly_unknown_words(const AppState& state);

/// Whether the answer on the screen is not the answer to what is asked now.
bool is_stale(const AppState& state);

/// Whether there is no sentence at all, so that nothing is asked: not a mistake, but a beginning.
bool nothing_asked(const AppState& state);

/// The error of the question, in one line; empty where there is none.
const Error* problem_of(const AppState& state);

/// The region that the enlarged head shows of the current answer.
Region shown_region(const AppState& state);

/// Whether the enlarged head needs separate weights: where its thumbnail is not the shown region cell for cell.
bool needs_detail(const AppState& state);

/// The folded maps that are shown of a stack; null where each token is one row and one column, as inside a block, in
/// View::compare, and in maps of another kind than weights.
const FoldedStack* shown_fold(const AppState& state, Stack stack);
/// The pinned cell, else the strongest of the chosen head's map as it is shown.
CellRef pinned_or_strongest(const AppState& state);

/// The program of the answer on the screen: of all sentences of its batch, but of a prefix alone.
ListingQuestion program_question(const AppState& state);

/// Whether the document is answered by AppState::live, the newest or an earlier one.
bool shows_live(const AppState& state);

/// The step whose model of AppState::live answers the document; nothing where none does.
std::optional<Index> shown_step(const AppState& state);

/// Whether a tool changes a model now.
inline bool is_live(const AppState& state) { return state.live && state.live->goes_on; }

/// The heads whose lines View::flow draws: of the chosen head's layer, in order; none where all were switched away.
std::vector<HeadRef> flow_heads(const AppState& state);

/// The longer side of those weights: a larger region is max-pooled to it.
inline constexpr Index kDetail = 512;

/// The document's checkpoint; null where its model is none.
const LoadedModel* loaded_model(const AppState& state);

/// The state as a session's file has it.
Session session_of(const AppState& state);

/// The settings as they are written: with the look and the lesson that the next window begins with.
Settings settings_to_keep(const AppState& state);

bool has_unsaved_changes(const AppState& state);

/// The part of the state that a tool added: T() until it was changed.
template <class T>
const T& part(const AppState& state) {
  return state.parts.get<T>();
}
template <class T>
T& part(AppState& state) {
  return state.parts.get<T>();
}

/// Where the sentence that is looked at begins in the whole text, in bytes.
std::size_t sentence_begin(const AppState& state, TextSide side = TextSide::source);

/// The tokens that a text is cut into now, as the chips show them; null where nothing is asked or there is no target.
const Tokens* shown_tokens(const AppState& state, TextSide side = TextSide::source);

}  // namespace headlight
