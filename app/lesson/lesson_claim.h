// Claims of a lesson about numbers, which are checked against the model: that a weight is above 0.9, that
// two rows are the same, that a word is expected.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "document/document.h"
#include "model/trace.h"

namespace headlight {

/// A word of a sentence: its text, of several the n-th (`我#2`, counted from 1; without a number the first), or the
/// place of a token counted from 0.
struct WordPosition {
  std::string word;
  std::optional<Index> place = {};
};

/// A number of an answer, and between which two it is said to be.
struct Claim {
  enum class Kind {
    weight,       // of a head, from a word to a word
    matrix,       // a cell of a matrix on the data's way (derived/matrix_names.h)
    row_largest,  // the mean over a head's rows of their largest weight
    rows_apart,   // the largest difference between two rows of a head
    next,         // the probability of a word: the next one, or the masked one
    relation,     // the score of a head for a relation, on sentences it never saw
  } kind = Kind::weight;
  HeadRef head;
  WordPosition query, key;  // of rows_apart: the two queries
  std::string name;         // of the matrix, the word or the relation
  CellRef cell;             // of the matrix
  std::optional<double> above, below;
};

/// [{"layer": 1, "head": 5, "query": "机票", "key": "订了", "above": 0.9}, …]
Result<std::vector<Claim>> claims_from_json(const std::string& where, const nlohmann::json& list);

/// The claim as a person would say it: `head 1.5, 机票 → 订了`.
std::string words_of(const Claim& claim);

/// The number that it is about. An Error where the answer has no such thing.
Result<double> claimed_number(const Claim& claim, const Document& document, const Trace& trace);
/// Whether the number is where the claim says.
bool holds(const Claim& claim, double number);

/// The token that a word place names; nothing where there is none.
std::optional<Index> find_position(const Tokens& tokens, const WordPosition& place);

}  // namespace headlight
