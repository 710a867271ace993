// Facts about a sentence before anything is computed: how many of its words the model does not know, and whether
// it is a sentence of the kind that a model's heads were measured on.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "card/grammar.h"
#include "model/request.h"
#include "model/tokens.h"
#include "model/weights.h"

namespace headlight {

/// Two words of a sentence that belong together.
struct RelatedWords {
  std::string relation;      // "VO", as RelationScore names it
  Index query = 0, key = 0;  // tokens
  friend bool operator==(const RelatedWords&, const RelatedWords&) = default;
};

struct SentenceFacts {
  Index words = 0;                           // tokens that were typed
  Index unknown = 0;                         // … of which the model does not know so many
  bool measured_kind = true;                 // is_of_measured_kind (below)
  bool of_grammar = false;                   // the grammar could have written it
  std::vector<RelatedWords> relations = {};  // … and then these belong together
  friend bool operator==(const SentenceFacts&, const SentenceFacts&) = default;
};

/// Whether the text is of the kind that heads of a model for any sentence were measured on: sentences of one language.
/// It is not
///  - where most of the words in letters are no whole words of the tokenizer's list (Tokens::word_rows), but spelt in
///    pieces, as in languages that the model was not taught. Chinese is cut into what the model has;
///  - where a twelfth of the Chinese characters is none that the model has: traditional ones, classical texts;
///  - where a quarter of the words of a Chinese text is in letters, or a word of another text is in Chinese;
///  - where signs of programs (brackets, =, a letter before an opening bracket) are a tenth as many as words.
/// Of tokenizers without such a list nothing is known, and it is.
bool is_of_measured_kind(const Tokens& tokens);

/// `grammar` may be null: then the sentence is of none.
SentenceFacts sentence_facts(const Tokens& tokens, const Grammar* grammar);

/// Which words of a translation were made of which words of the sentence, where the grammar writes this sentence and
/// its English begins like the translation: "OWN" from the token of the word, "NEXT" from the one before, which
/// predicts it (not from the special first token). Queries are tokens of the translation, keys of the sentence.
std::vector<RelatedWords> translated_words(const Grammar& grammar, const Tokens& sentence, const Tokens& translation);

/// The grammar that comes with the program, read once; null where it cannot be read.
const Grammar* shipped_grammar();

/// The sentence that is nearest to these words among `samples` and the grammar's sentences, of those that have only
/// words of the vocabulary: the fewest words changed, put in or taken out; of equally near ones the first. Empty: there
/// is none. Deterministic.
std::string nearest_known_sentence(const std::vector<std::string>& words, const Vocabulary& vocabulary,
                                   const Grammar& grammar, const std::vector<std::vector<std::string>>& samples);

/// Words of a vocabulary that have the same role in the grammar's sentences.
struct WordFamily {
  std::string_view name;  // "role.person"
  std::vector<std::string> words;
};
/// The families of the grammar with those of their words that the vocabulary has; none without words.
std::vector<WordFamily> known_families(const Grammar& grammar, const Vocabulary& vocabulary);

/// Examples of a vocabulary's words, for the hint beside an unknown word.
struct KnownWords {
  std::size_t count = 0;                   // words of the vocabulary that are no special tokens
  std::vector<std::string> examples = {};  // some of them, in the vocabulary's order
};

/// The largest vocabulary of which examples are useful: larger ones hold pieces of words.
inline constexpr std::size_t kMostWholeWords = 5000;

/// How many words there are, and at most `most` of them that are written as `like` is: in letters of ASCII or not.
/// They are taken evenly from the whole vocabulary, so that the same model always names the same. Of a vocabulary
/// larger than kMostWholeWords there are no examples.
KnownWords known_words(const Vocabulary& vocabulary, std::string_view like, std::size_t most);

/// "2 words are unknown to the model and read as <unk>: 小猫, 饿坏了", each word once, at most five of them, with the
/// model's own token; empty where every word of the requests is known.
std::string unknown_words_line(const std::vector<Request>& requests);

}  // namespace headlight
