// The guess of a model after each of its layers, and what each part of it adds to a word or to the difference of two,
// as the views show it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "explain/lens.h"

namespace headlight {

/// The word whose logit is split, as typed: in the vocabulary, or its id; empty: the most probable in the end. Where
/// there is a `minus`, the difference of the two logits is split.
struct LensWords {
  std::string word = {}, minus = {};
  friend bool operator==(const LensWords&, const LensWords&) = default;
};

struct LensQuestion {
  std::shared_ptr<const Trace> trace;
  Index query = 0;
  LensWords words = {};

  friend bool operator==(const LensQuestion&, const LensQuestion&) = default;
};

struct LayerLens {
  std::shared_ptr<const Trace> trace;  // that is read: of an encoder the answer with the word hidden, where it can be
  std::string hidden = {};             // that word
  Index query = 0;                     // whose logits are split
  /// Of an encoder the columns are the most probable words of `query`; of others the tokens from `first` on, and each
  /// cell is the most probable word.
  bool ranks = false;
  Index first = 0;
  std::vector<std::vector<Candidate>> cells = {};  // [layer][column]
  Matrix probabilities = {};                       // the same shape
  std::optional<Candidate> word = {}, minus = {};  // that are split
  std::optional<LogitSplit> split = {};            // … of their difference, where there are two
  std::vector<std::size_t> order = {};             // of its terms: the largest first
  std::optional<Error> problem = {};               // why there is no split

  std::optional<Index> chosen_column() const { return ranks ? std::nullopt : std::optional(query - first); }
};

/// Columns of the table.
inline constexpr Index kLensTokens = 10, kLensRanks = 5;

/// Errors: no output layer, a query that is not there. Null when stopped.
Result<std::shared_ptr<const LayerLens>> look_through_layers(const LensQuestion& question, Progress& progress);

}  // namespace headlight
