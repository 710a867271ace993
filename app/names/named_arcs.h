// The cells of an answer that are named by a relation: decided here alone, for the window, figures, pages and the
// command line. A name belongs to a cell in which a head points from one word at another, not to the head.
#pragma once

#include <string>
#include <vector>

#include "heads/arc_labels.h"
#include "names/sentence_facts.h"
#include "question/document.h"

namespace headlight {

struct NamedArc {
  HeadRef head;
  CellRef cell;            // of the words' tokens those with the most weight
  float weight = 0;        // of the words, as merged maps have it (derived/fold.h): at least kLeastPointing
  SpeltWord from, to;      // the words
  std::string relation;    // of Universal Dependencies, or of the grammar
  bool reversed = false;   // the head looks from the second word of the relation at the first
  double precision = 0;    // the share of such cells that was right where it was measured …
  Index measured = 0;      // … in so many
  double probability = 1;  // of this arc, by its label

  friend bool operator==(const NamedArc&, const NamedArc&) = default;
};

/// The relation of the grammar between a pronoun and its noun, by which heads were taught.
inline constexpr std::string_view kPronounRelation = "IT";
/// The least weight of SentenceArcs::referring.
inline constexpr float kLeastReferring = 0.8f;

/// Why a model with labels names nothing: a text of no measured kind; words in no order; more than kMostArcTokens.
enum class Unnamed { no_relation, kind, order, length };

/// The names of one answer.
struct SentenceArcs {
  std::vector<NamedArc> named = {};  // ascending by head, then by cell; of one head and pair of words one
  struct Resting {
    HeadRef head;
    Index words = 0;   // without marks and names, that look at the first token most, which is special
    bool all = false;  // whether that are all of them
  };
  /// Of heads that were taught pronouns: those of the third person that look at a word before them with kLeastReferring
  /// or more, where the card says how often such a cell is right in real texts of this language. They have no name: it
  /// is too seldom. The relation of each is kPronounRelation.
  std::vector<NamedArc> referring = {};
  std::vector<Resting> resting = {};  // of heads that were taught: how many words rest on the first token
  std::string rest = {};              // the text of that token
  Unnamed unnamed = Unnamed::no_relation;

  /// Of one head.
  std::vector<const NamedArc*> of(const HeadRef& head) const;
  /// The arc that this cell is; null where it is none.
  const NamedArc* at(const HeadRef& head, const CellRef& cell) const;
  /// The same of those without a name.
  const NamedArc* referring_at(const HeadRef& head, const CellRef& cell) const;
};

/// Nothing is named where another mask changed the answer of the trained model, in layers that attend otherwise than
/// without the edits, for a text of no measured kind, and for a model without measurements. `card`: of the answer's
/// model.
///  - A sentence of the grammar: the pairs that it has, in heads whose score for that relation is kLeastPrecision or
///    more (the card's scores; of a taught head its precision on such sentences). With its English the pairs of a word
///    and what it was made of, in cross-attention.
///  - Any other sentence, of a model with labels (heads/arc_labels.h): pairs whose label is probable enough, in heads
///    of which such cells were right in kLeastPrecision or more, surely (ArcPrecision::least).
SentenceArcs named_arcs(const TrainingCard& card, const Trace& trace);
/// The same of a document's model; nothing where the answer is another model's.
SentenceArcs named_arcs(const Document& document, const Trace& trace);

}  // namespace headlight
