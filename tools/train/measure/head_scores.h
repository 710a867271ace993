// How well heads show what they should: the one measure of relations of the grammar, of translations and of treebanks,
// which differ in their cases.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "card/grammar.h"
#include "model/request.h"
#include "train/measure/relations.h"

namespace headlight {

class Speller {
 public:
  /// The model must have a vocabulary.
  Speller(const Model& model, const Grammar& grammar);

  Index unknown = 0;  // words of the grammar's sentences that the model does not have
  /// Positions of words are positions of tokens plus this.
  int first() const { return start_ ? 1 : 0; }

  /// A question about a sentence; of an encoder-decoder with what its decoder reads.
  Request request(const std::shared_ptr<const Model>& model, const std::vector<std::int32_t>& words,
                  const std::vector<std::int32_t>& english = {}) const;

 private:
  Tokens tokens(const std::vector<std::int32_t>& words, bool start) const;

  std::optional<std::int64_t> start_;
  std::vector<std::int64_t> ids_;  // of the grammar's words and those of its dictionary
};

/// The same shape with fresh weights and fresh vectors for the words: what a measure gives where nothing was learned.
std::shared_ptr<const Model> untrained_model(const Model& model);

/// The result of one head for one gold pair: whether its strongest target is the right word, and the weight on that.
struct HeadLook {
  bool right = false;
  float weight = 0;
};
/// [gold][column]: the columns 2·head and 2·head + 1 are the two ways in which a measure reads a head, head being layer
/// · heads + head.
using HeadLooks = std::vector<std::vector<HeadLook>>;

/// Two words that a relation ties: the distance from the word that looks to the right one, and the kind of the
/// sentence.
struct GoldPair {
  int relation = 0, distance = 0, kind = 0;
};

/// A sentence that is measured: its question (the model is set when it is asked); its gold pairs; and what a head shows
/// of one of them, in both ways.
struct MeasuredCase {
  Request request;
  std::vector<GoldPair> golds = {};
  std::function<Matrix(const Matrix& weights)> weights = {};  // what is looked at; empty: the head's (queries, keys)
  std::function<std::array<HeadLook, 2>(const Matrix& weights, std::size_t gold)> look = {};
};

/// The words of one sentence that what stands before them foretells.
struct Foretold {
  Index words = 0, right = 0;
  double nats = 0;
};

/// All heads of a stack on all golds, in the order of the cases; adds `share` to progress.done on the way. Empty where
/// it was stopped. `foretold`, if not null, is set to what each case's words foretell of each other.
Result<HeadLooks> looks_of(const std::shared_ptr<const Model>& model, const std::vector<MeasuredCase>& cases,
                           Stack stack, int threads, Progress& progress, float share,
                           std::vector<Foretold>* foretold = nullptr);

/// The score of a column over those golds; `hard`: for each whether it counts as hard, or empty.
HeadScore score_of(const HeadLooks& looks, const std::vector<std::size_t>& golds, std::size_t column,
                   const std::vector<bool>& hard);

/// The column of best accuracy over those golds, among `first`, `first` + `step`, …; of equal ones the first.
std::size_t best_column(const HeadLooks& looks, const std::vector<std::size_t>& golds, std::size_t first = 0,
                        std::size_t step = 1);

/// Cases on which heads are chosen and those on which they are scored, by the model and by fresh weights.
struct Measured {
  std::vector<MeasuredCase> validation, test;
  HeadLooks on_validation = {}, on_test = {}, fresh_on_validation = {}, fresh_on_test = {};

  /// Sets the looks; false where it was stopped. `share`: of each of the four; `foretold`: of the test cases.
  Result<bool> look(const std::shared_ptr<const Model>& model, Stack stack, int threads, Progress& progress,
                    float share, std::vector<Foretold>* foretold = nullptr);
};

/// The golds of one relation: their rows in HeadLooks, and their pairs.
struct RelationGolds {
  std::vector<std::size_t> rows;
  std::vector<GoldPair> pairs;
};
RelationGolds golds_of(const std::vector<MeasuredCase>& cases, int relation);

/// One relation on the cases of a Measured, which must stay.
class RelationMeasure {
 public:
  /// `leads_right`: whether this distance leads a test gold to the right word, where more than the pair's words do.
  RelationMeasure(const Measured& measured, int relation,
                  const std::function<bool(std::size_t gold, int distance)>& leads_right = {});

  const RelationGolds& validation() const { return chosen_on_; }
  const RelationGolds& test() const { return scored_on_; }
  double validated(std::size_t column) const;
  HeadScore tested(std::size_t column) const;
  /// Sets random (the best of the columns `first`, `first` + `step`, …), offset, kind_offset and sentences.
  void add_baselines(RelationScore& score, std::size_t first = 0, std::size_t step = 1) const;

 private:
  const Measured& measured_;
  RelationGolds chosen_on_, scored_on_;
  double offset_ = 0, kind_offset_ = 0;  // right by the most frequent distance of validation, and by that of each kind
  std::vector<bool> hard_;               // where both are wrong
};

/// Of all sentences together.
NextWordScore next_word_score(const std::vector<Foretold>& sentences);

/// Whether its last step is the vocabulary, so that it foretells words.
bool foretells(const Model& model);

}  // namespace headlight
