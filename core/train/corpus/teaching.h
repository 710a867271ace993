// The targets of taught heads: where to look, by the arcs of treebanks and the relations of a grammar.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/index.h"
#include "base/result.h"

namespace headlight {

/// A head that learns where words with some relations look: from the dependent to its head.
struct TaughtHead {
  Index layer = 0, head = 0;
  std::vector<std::string> relations = {};  // of Universal Dependencies, with or without subtype; or of the grammar

  friend bool operator==(const TaughtHead&, const TaughtHead&) = default;
};

/// How a training teaches. The loss is Objective::attention times the weighted mean, over the words that are asked and
/// their heads, of −ln of the weight that the head gives to the right word.
struct Teaching {
  std::vector<TaughtHead> heads = {};  // ascending by layer and head; none: nothing is taught
  float share = 0.66f;                 // of a step's sentences …
  float from = 0.8f;                   // … once this share of the steps is taken
  float grammar = 0;                   // of those the share that the grammar says; else treebanks
  float rest = 0.15f;                  // weight of a word without such a relation, which is to look at <s>
  float hide = 0.1f;                   // share of the words of taught sentences that are hidden, and asked for

  friend bool operator==(const Teaching&, const Teaching&) = default;
};

/// The relations that are taught unless others are named, for a model of so many layers and heads: one head each, on
/// the last two layers; the grammar's on the last. Errors: too few heads.
Result<std::vector<TaughtHead>> usual_taught_heads(Index layers, Index heads);

/// "3.0=nsubj,csubj": layer and head from 0, and relations.
Result<TaughtHead> parse_taught_head(std::string_view text);
std::string spelled(const TaughtHead& head);

/// An Error naming the first thing about it that cannot be done with a model of so many layers and heads.
Status check_teaching(const Teaching& teaching, Index layers, Index heads);

/// Which of the heads is taught a relation, "nmod:poss": the one that names it, else one that names it without its
/// subtype. Nothing where none is.
std::optional<std::size_t> taught_head(const std::vector<TaughtHead>& heads, std::string_view relation);

}  // namespace headlight
