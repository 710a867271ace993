// Texts and treebanks as a tokenizer of the user spells them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "card/grammar.h"
#include "text/tokenizer.h"
#include "train/corpus/teaching.h"

namespace headlight {

/// Sentences as rows of the token table, one behind the other.
struct TokenLines {
  /// Added to the row of a token that goes on the word before it.
  static constexpr std::int32_t kContinues = std::int32_t{1} << 30;

  std::vector<std::int32_t> rows;
  std::vector<std::size_t> starts = {0};  // of each sentence, and the end of the last

  std::size_t size() const { return starts.size() - 1; }
  std::span<const std::int32_t> line(std::size_t i) const {
    return std::span(rows).subspan(starts[i], starts[i + 1] - starts[i]);
  }
  void add(std::span<const std::int32_t> line) {
    rows.insert(rows.end(), line.begin(), line.end());
    starts.push_back(rows.size());
  }
};

struct CorpusText {
  std::string name;
  float weight = 1;  // of each of its sentences, beside those of other texts
  TokenLines lines = {};
};

/// Longer texts are not read.
inline constexpr std::size_t kMostTextBytes = std::size_t{1} << 30;

/// Whether a model can be trained on what this tokenizer gives: rows 0 to 3 are those of every trained model (pad,
/// start, mask, unknown), and a text begins with the start.
Status check_trainable(std::string_view where, const Tokenizer& tokenizer);

/// The sentences of a text (UTF-8), one a line; those of more than kLongestSentence tokens are left out. Words that
/// come again are looked up, not cut again. Errors: not UTF-8, no sentence.
Result<CorpusText> tokenized_text(std::string_view where, std::string_view text, float weight,
                                  const Tokenizer& tokenizer, const Progress& progress);

/// A sentence whose heads are taught where to look.
struct TaughtSentence {
  struct Arc {
    std::int32_t head = 0;            // of Teaching::heads
    std::int32_t query = 0;           // a token
    std::int32_t first = 0, end = 0;  // tokens [first, end)
  };
  std::vector<std::int32_t> rows;  // as TokenLines has them
  std::vector<Arc> arcs;           // ascending by head, then by query; of each query and head one
  enum class Rest : char { asked, not_of_grammar, never };
  std::vector<Rest> rests;       // of each token, whether a head rests there that has no arc from it …
  std::vector<char> known;       // … and of each head whether this source has its arcs
  std::vector<char> of_grammar;  // of each head, whether its relations are the grammar's

  bool asks_rest(std::size_t head, std::size_t token) const {
    return known[head] && rests[token] != Rest::never && !(of_grammar[head] && rests[token] == Rest::not_of_grammar);
  }
};

/// One treebank of a corpus.
struct TaughtText {
  std::string name;
  float weight = 1;  // of each of its sentences, beside those of other treebanks
  std::vector<TaughtSentence> sentences = {};
};

/// The sentences of a treebank that the tokenizer spells in at most kLongestSentence tokens. Words and tokens belong
/// together that share bytes; an arc within one token is left out. A head of which the treebank has no arc anywhere is
/// not taught. Heads of the grammar's relations (null: no grammar) rest, but for pronouns: no treebank states what
/// those stand for; where a treebank marks no pronouns, these heads are not taught either.
std::vector<TaughtSentence> taught_sentences(const std::vector<TreebankSentence>& treebank, const Tokenizer& tokenizer,
                                             const std::vector<TaughtHead>& heads, const Grammar* grammar);

/// A sentence of the grammar; only heads of its relations are taught.
TaughtSentence taught_sentence(const Grammar& grammar, const Sentence& sentence, const Tokenizer& tokenizer,
                               const std::vector<TaughtHead>& heads);

}  // namespace headlight
