// How well heads show what they should: the parts that relations and alignment are measured with.
#pragma once

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "train/measure/relations.h"

namespace headlight {

/// The result of one head for one gold pair: whether its strongest target is the right word, and the weight on that.
struct HeadLook {
  bool right = false;
  float weight = 0;
};
/// [gold][column]: a column is a head and a way of reading it.
using HeadLooks = std::vector<std::vector<HeadLook>>;

/// Reads the answer to one request: fills a row of columns for each of its golds.
using ReadLooks = std::function<void(const Trace& trace, std::size_t request, std::span<std::vector<HeadLook>> golds)>;

/// Answers all requests, `num_golds` of each in the order of the result, and adds `share` to progress.done on the way.
/// Empty where it was stopped.
Result<HeadLooks> look_at_all(const std::vector<Request>& requests, const std::vector<std::size_t>& num_golds,
                              const ReadLooks& read, int threads, Progress& progress, float share);

/// The score of a column over those golds; `hard` says for each whether it counts as hard, or is empty.
HeadScore score_of(const HeadLooks& looks, const std::vector<std::size_t>& golds, std::size_t column,
                   const std::vector<bool>& hard);

/// Where the right word of a gold stands, from the word that looks; and the kind of the sentence.
struct GoldPair {
  int distance = 0, kind = 0;
};

/// The scores of position alone: the most frequent distance of all validation golds, and that of each kind of sentence,
/// tried on test golds. `is_right` says whether a distance leads a test gold to the right word.
struct PositionScores {
  double offset = 0, kind_offset = 0;
  std::vector<bool> hard;  // where both distances are wrong
};
PositionScores position_scores(const std::vector<GoldPair>& validation, const std::vector<GoldPair>& test,
                               const std::function<bool(std::size_t gold, int distance)>& is_right);

/// The words of one sentence that what stands before them foretells.
struct Foretold {
  Index words = 0, right = 0;
  double nats = 0;
};
/// The row of each word's id in the model's output layer; ids that are not there are rows themselves.
std::unordered_map<std::int64_t, Index> rows_of_ids(const Model& model);
/// Of what the main stack reads, from its second token on. The model has an output layer; `rows` are its rows_of_ids.
Foretold foretold_words(const Trace& trace, const std::unordered_map<std::int64_t, Index>& rows);
/// Of all sentences together.
NextWordScore next_word_score(const std::vector<Foretold>& sentences);

}  // namespace headlight
