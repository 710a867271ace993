// The targets of taught heads: where to look, by the arcs of treebanks (CoNLL-U files of Universal Dependencies,
// https://universaldependencies.org/format.html) and the relations of a grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "card/training_plan.h"

namespace headlight {

/// The relations that are taught unless others are named, for a model of so many layers and heads: one head each, on
/// the last two layers; the grammar's on the last. Errors: too few heads.
Result<std::vector<TaughtHead>> usual_taught_heads(Index layers, Index heads);

/// "3.0=nsubj,csubj": layer and head from 0, and relations.
Result<TaughtHead> parse_taught_head(std::string_view text);
std::string spelled(const TaughtHead& head);

/// An Error naming the first thing about it that cannot be done with a model of so many layers and heads.
Status check_teaching(const Teaching& teaching, Index layers, Index heads);

/// A sentence with the dependencies between its words.
struct TreebankSentence {
  struct Word {
    std::size_t begin = 0, end = 0;  // bytes of the text
    bool pronoun = false;            // UPOS PRON
  };
  struct Arc {
    std::int32_t dependent = 0, head = 0;  // words, from 0; the root has no arc
    std::string relation;                  // DEPREL: "nsubj:pass"
  };
  std::string text;         // the forms as they stood, with a space behind each unless SpaceAfter=No
  std::vector<Word> words;  // of a multiword token (2-3 don't) each has its share of the letters
  std::vector<Arc> arcs;
};

/// Longer files are not read.
inline constexpr std::size_t kMostTreebankBytes = std::size_t{1} << 28;

/// Every sentence of a file. Empty nodes (8.1) are left out. Errors name the line: not UTF-8, not ten columns, words
/// not counted from 1, a head that is no word of the sentence, a cycle, a multiword token beyond the end, no sentence
/// at all.
Result<std::vector<TreebankSentence>> parse_conllu(std::string_view where, std::string_view text);

}  // namespace headlight
