// What the scene of a sentence shows of an answer: its words, the weights of every head between them, the arcs that
// have names, the pinned one, and the word whose row is read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "derived/fold.h"
#include "figure/drawing/colour.h"
#include "names/named_arcs.h"
#include "view/view_state.h"

namespace headlight {

struct SentenceWord {
  std::string label;
  std::vector<std::string> pieces = {};  // its tokens, where it has several
  Index token = 0;                       // the first of them
  bool special = false;
  std::optional<Rgb> ink = {};  // of its label; nothing: the text's
};

/// A weight between two words, numbered as rows and columns of the map.
struct SentenceArc {
  Index query = 0, key = 0;
  HeadRef head = {};
  float weight = 0;
  CellRef cell = {};          // of the answer
  std::string relation = {};  // empty: it has no name
  bool reversed = false;
  bool pinned = false, off = false, by_hand = false;
  std::optional<float> change = {};  // B − A, of which `weight` is the size
};

/// A row of the same word in one of two answers, or their difference.
struct SentenceRow {
  std::string title;
  Rgb ink;
  const Matrix* cells = nullptr;  // −1 where blocked, NaN where a word is not in both
  ColourScale scale = {};
};

struct SentenceHead {
  HeadRef head;
  const Matrix* weights = nullptr;  // words × words, −1 where blocked
  const Vector* rests = nullptr;    // of each row, the weight of special tokens that are left out; null: none are
  bool off = false;
};

struct SentenceContent {
  const Trace* trace = nullptr;  // of which all this is; null: of none, heads have their usual names
  std::vector<SentenceWord> queries, keys;
  bool one = true;  // both are the words of one sentence
  std::vector<SentenceHead> heads;
  std::vector<SentenceArc> named;  // of several heads for one pair the heaviest
  std::optional<SentenceArc> pinned;
  Index query = 0;                     // whose row is read
  Matrix best;                         // (queries, keys): the largest weight of any head that is on …
  std::vector<int> by;                 // … and which of `heads` has it, row by row; −1: none
  std::vector<SentenceRow> rows = {};  // of two answers, below the words in place of bars and other heads

  const SentenceHead* of(const HeadRef& head) const;
  float rests(const SentenceHead& head, Index row) const { return head.rests ? (*head.rests)(row) : 0; }
  /// What a row looks at a word with; 0 where it may not.
  static float weight(const SentenceHead& head, Index row, Index column) {
    return std::max(0.0f, (*head.weights)(row, column));
  }
  SentenceArc arc_of(const SentenceHead& head, Index row, Index column) const;
  /// The cell that stands for a word: with a name, else the heaviest at another word. Nothing where all weights are 0.
  std::optional<SentenceArc> heaviest_of(Index row) const;
};

/// The content; nothing where there are more words than kMostWordsOfStage, or none. `folded`: the maps as they are
/// shown; null: each token is a word. `pinned`: a cell of `chosen`. `only`: some of the stack's heads; null: all.
std::optional<SentenceContent> sentence_content(const Trace& trace, const FoldedStack* folded, const SentenceArcs& arcs,
                                                const HeadRef& chosen, const std::optional<CellRef>& pinned,
                                                const std::vector<HeadRef>* only = nullptr);

}  // namespace headlight
