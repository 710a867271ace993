// What the model guesses: the next word, or the word at a position that is hidden from an encoder; for the question as
// it is, and as it was before any change by hand. Hiding a word takes a separate forward pass.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "derived/weak_ref.h"
#include "math/output.h"
#include "model/trace.h"

namespace headlight {

struct GuessQuestion {
  WeakRef<Trace> trace;
  std::optional<Index> hidden = {};  // the token of an encoder that is hidden; nothing: the answer's prediction

  friend bool operator==(const GuessQuestion&, const GuessQuestion&) = default;
};

struct GuessedWord {
  Candidate word;                    // with its probability now
  std::optional<float> before = {};  // … and before the changes; nothing where there are none
};

struct Guess {
  WeakRef<Model> model = {};
  std::string token = {};  // the text of the hidden token, or of the one that the guess comes after
  std::vector<GuessedWord> words =
      {};  // the most probable now, behind the first what was lost; none where the model predicts no words
  std::optional<GuessedWord> right = {};  // the word that is hidden
};

/// How many words a guess names.
inline constexpr Index kGuessedWords = 5;
/// How many words more, which the changes made less probable: the largest losses by |p′ − p|.
inline constexpr Index kLostWords = 2;
/// Longer sentences are not asked with a word hidden.
inline constexpr Index kMostHidden = 2048;

/// The same question with nothing changed by hand: no edits, and the masks that a model of its kind begins with.
Request untouched(Request request);

/// Whether the word of this token can be hidden and guessed: of an encoder with an output layer and a hiding token, a
/// token that was typed, beside others from which it can be guessed.
bool can_hide(const Trace& trace, Index token);
/// The question with that word hidden. Precondition: can_hide.
Request with_hidden(const Trace& trace, Index token);

/// Null when stopped, or the trace is gone.
std::shared_ptr<const Guess> make_guess(const GuessQuestion& question, Progress& progress);

}  // namespace headlight
