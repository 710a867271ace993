// The whole state of the program as one value, and the one place where it changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/command.h"

namespace headlight {

/// A line for the user at the foot of the window, until it is dismissed or replaced.
struct Notice {
  enum class Kind { opened, saved, exported, restored, failed } kind = Kind::failed;
  std::string text;  // a path, or what went wrong
};

/// The enlarged head where its thumbnail is not the pattern itself: more tokens than cells, or a part of it.
struct Detail {
  std::shared_ptr<const Trace> trace;
  Region region;
  Matrix weights;             // −1 where blocked
  std::uint64_t version = 0;
};

struct AppState {
  const Lexicon* lexicon = nullptr;   // what the words are cut by; not null

  Document document;
  std::vector<Document> undo, redo;
  std::optional<Document> gesture;    // the document before the edits that are still going on
  std::size_t gesture_kind = 0;       // which Command those edits are

  ViewState view;
  std::optional<ViewState> opened_view;  // the look of a session just opened, until there is an answer that it fits
  Settings settings;

  std::vector<Request> requests;      // what the document asks, one a sentence; empty where it cannot be asked
  std::string problem;                // … and why

  std::shared_ptr<const Trace> trace; // the last answer
  std::uint64_t trace_version = 0;    // counts answers
  double trace_milliseconds = 0;
  std::optional<Request> refused;     // the request that failed, so that it is not tried again …
  std::string refusal;                // … and why
  std::optional<Detail> detail;

  Browser browser;
  std::string session_path;           // where Save writes
  Document saved_document;            // as it was saved or opened last
  std::optional<Notice> notice;
  bool quit = false;
};

/// A state that shows `document`; `lexicon` must outlive it.
AppState initial_state(const Lexicon& lexicon, Document document, Settings settings);

/// The only way the state changes. Reads no file, asks no clock, starts no thread; commands about files change only
/// what is known at once (`quit`, the notice), their outcome comes back as another command.
void update(AppState& state, Command command);

/// The request of the sentence that is looked at; null where there is none.
const Request* wanted(const AppState& state);

/// Whether the answer on the screen is not the answer to what is asked now.
bool is_stale(const AppState& state);

/// Whether there is no sentence at all, so that nothing is asked: not a mistake, but a beginning.
bool nothing_asked(const AppState& state);

/// What is wrong with the question, in one line; empty where nothing is.
const std::string& problem_of(const AppState& state);

/// The region that the enlarged head shows of the current answer.
Region shown_region(const AppState& state);

/// Whether the enlarged head needs weights of its own: where its thumbnail is not the shown region cell for cell.
bool needs_detail(const AppState& state);

/// The longer side of those weights: a larger region is max-pooled to it.
inline constexpr Index kDetail = 512;

bool has_unsaved_changes(const AppState& state);

/// Where the sentence that is looked at begins in the whole text, in bytes.
std::size_t sentence_begin(const AppState& state);

/// The tokens that the text is cut into now, as the chips show them.
const Tokens* shown_tokens(const AppState& state);

}  // namespace headlight
