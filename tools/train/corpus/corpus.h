// The data of a training: sentences of the grammar or a text of the user, as rows of a model's token table, and the
// words to predict from them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "card/grammar.h"
#include "model/weights.h"
#include "text/tokenizer.h"
#include "train/corpus/teaching.h"
#include "train/corpus/tokenized.h"
#include "train/network/batch.h"

namespace headlight {

struct Corpus {
  std::string name;                                   // "grammar", kRepeatedRandom, or the file
  std::vector<std::string> words = {};                // the word of row kFirstWordRow + i
  std::shared_ptr<const Grammar> grammar = {};        // its words in its order, those of its translations; null: …
  std::vector<std::vector<std::int32_t>> lines = {};  // … rows of each sentence; neither: kRepeatedRandom

  // Of a tokenizer of the user, instead of those:
  std::shared_ptr<const Tokenizer> tokenizer = {};  // its vocabulary is `words` behind the special ones; null: none
  std::string tokenizer_json = {};                  // as it was read
  std::vector<CorpusText> texts = {};
  std::vector<TaughtText> taught = {};                 // of treebanks
  std::shared_ptr<const Grammar> taught_grammar = {};  // sentences of which are taught; null: none

  Index rows() const { return static_cast<Index>(words.size()) + kFirstWordRow; }
  /// Whether its words are those of sentences and of their translations, kEndWord the last.
  bool translated() const { return grammar && !words.empty() && words.back() == kEndWord; }
};

/// The grammar as a corpus for this task: of translations also their words.
Corpus corpus_of(std::shared_ptr<const Grammar> grammar, Task task = Task::masked);

/// Sentences that were cut into words already. The `most_words` most frequent words have a row each, of equally
/// frequent ones those that come first; sentences longer than `longest` are left out. An Error where nothing is left.
Result<Corpus> corpus_of(std::string_view where, const std::vector<std::vector<std::string>>& sentences,
                         std::size_t most_words, std::size_t longest);

/// Sentences of 12 to 35 words, made as they are drawn: 3 to 5 pieces of 2 to 4 of 32 syllables, no word in two pieces,
/// in random order, repeatedly. Only what followed a word before shows what follows it; the distance to that differs.
inline constexpr std::string_view kRepeatedRandom = "repeated-random";
Corpus repeated_random_corpus();

/// Texts that a tokenizer has spelt.
Corpus corpus_of(std::shared_ptr<const Tokenizer> tokenizer, std::string tokenizer_json, std::vector<CorpusText> texts);

/// The words of a model that was trained on it, special ones first.
std::shared_ptr<const Vocabulary> vocabulary_of(const Corpus& corpus);

/// The taught sentences of one step.
struct TaughtDraw {
  const Teaching* teaching = nullptr;  // null: nothing
  Index count = 0;                     // sentences, of those of the step
};

/// `count` sentences for step `step` (from 1) of a training with this seed: a function of the three. Translations need
/// a corpus that was made for them. Where a tokenizer has spelt the texts, all pieces of a word are hidden, swapped or
/// kept together (Cui et al. 2019, "Pre-Training with Whole Word Masking"). Sentences that teach come last.
Batch draw_batch(const Corpus& corpus, Task task, const Corruption& corruption, std::uint64_t seed, Index step,
                 Index count, const TaughtDraw& taught = {});

}  // namespace headlight
