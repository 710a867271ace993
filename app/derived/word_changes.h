// Which single word moves a row of attention: other words in each position of a sentence, proposed by the model, and
// where the row's largest weight goes with each of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/progress.h"
#include "derived/weak_ref.h"
#include "heads/arc_labels.h"
#include "math/output.h"
#include "model/trace.h"

namespace headlight {

/// The row of a word in one head of the main stack, the mean of its pieces' rows; `query` is one of them.
struct ChangesQuestion {
  WeakRef<Trace> trace;
  HeadRef head;
  Index query = 0;
  std::string own = {};  // a word of the reader's, which is tried too; empty: none

  friend bool operator==(const ChangesQuestion&, const ChangesQuestion&) = default;
};

/// The sentence with one word changed, and the weight that the row then has on one key.
struct WordChange {
  Index token = 0;       // that is replaced
  std::string from, to;  // its texts
  std::string text;      // of the document, with the change made
  // The word with the row's largest weight, after a change that moves the row, else before it: its first token, and its
  // text after the change.
  Index key = 0;
  std::string looked_at = {};
  float before = 0, after = 0;  // the row's weight on that word, the sum over its pieces
  bool moves = false;
  bool of_example = false;
};

struct WordChanges {
  std::string word = {};               // of the row
  std::vector<WordChange> best = {};   // an example's change first; those that move the row, the largest first
  Index tried = 0, moving = 0;         // changes that were tried; those of them that move the row
  std::optional<WordChange> own = {};  // what the reader's word does, in place of the word that it is most like
};

// What counts. A change moves a row where its largest weight goes to another word (no special token, no mark) and is at
// least kMovedWeight there; by how much: the gain of that weight. Other changes are offered where the row's largest
// weight, on a word that is still there, gains or loses at least kLeastShift. One change is offered a replaced word and
// key.
inline constexpr float kMovedWeight = 0.3f, kLeastShift = 0.1f;
inline constexpr std::size_t kMostOffered = 3;
/// Answers computed for one question, those with a word hidden among them; of a large model fewer: this many
/// multiplications in all. Words tried in one position. The longest sentence that is examined.
inline constexpr Index kMostAnswers = 500, kMostWordsTried = 40, kLongestChanged = 128;
inline constexpr double kMostProducts = 4e10;
/// Words with less than this share of the probability of the likeliest guess in their position that is written like the
/// word there are not tried.
inline constexpr float kLeastOfLikeliest = 0.05f;
/// Nor words whose vector has no larger cosine with that of the word than this share of the vocabulary's pairs.
inline constexpr float kNearerThan = 0.98f;

/// The document with a token replaced by a word: its text, and the question that results. Nothing where the text would
/// be cut otherwise or answered by another model.
struct Retyped {
  std::string text;
  Request request;
};

/// What the search needs besides the answer.
struct ChangeSource {
  std::function<std::optional<Retyped>(const Token& token, const std::string& word)> retype;
  std::vector<std::pair<std::string, std::string>> examples = {};  // changes that are tried first: a word, another
  const ArcLabels* labels = nullptr;  // of the model; words must then have the same relations as before
};

/// Whether two words are written alike: in letters of one case, in Chinese characters, in digits. Marks never are.
bool written_alike(const std::string& word, const std::string& other);

/// An example's change and opposites (big, small) are tried first. Other words are proposed by the model: for a
/// position of an encoder by its guess with that word hidden, for one of a decoder by its guess after the words before;
/// whole words of its vocabulary, written and ending like the word that is replaced, and near it. With a guess
/// all words are to keep their relations, with an opposite, or a guess in Chinese, that word its own. The most
/// probable of every position are tried before the next. Null when stopped, or the answer is gone. `known`: what was
/// found for the same row with another word of the reader's; null: nothing.
std::shared_ptr<const WordChanges> find_changes(const ChangesQuestion& question, const ChangeSource& source,
                                                Progress& progress, const WordChanges* known = nullptr);

}  // namespace headlight
