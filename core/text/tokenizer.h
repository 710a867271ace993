// A checkpoint's tokenizer, as a value: normalise, cut at added tokens, cut into pieces, spell each piece with the
// vocabulary, put special tokens around. Every token knows the bytes of the text that it stands for.
// The stages and their order are those of https://huggingface.co/docs/tokenizers/pipeline
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/tokens.h"
#include "model/weights.h"
#include "text/characters.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/subwords.h"

namespace headlight {

using TokenModel = std::variant<Bpe, WordPiece, Unigram, WordLevel>;

/// A template around a text: its parts in order, each the text itself or special tokens.
struct Template {
  struct Part {
    bool is_text = false;
    int type = 0;                                                     // token_type_ids
    std::vector<std::pair<std::int32_t, std::string>> specials = {};  // ids and words, of a part that is not the text
    bool second = false;                                              // of a pair, the second text
  };
  std::vector<Part> parts;
  std::vector<Part> pair = {};  // the same around two texts, the first before the second; empty: it takes one
};

/// Ids that differ from the model's: Marian spells with SentencePiece and then looks each piece up elsewhere.
struct ForeignIds {
  WordTable words;
  std::int32_t unknown = 0;
};

struct Tokenizer {
  std::vector<Normalizer> normalizers = {};
  AddedTokens added = {};
  std::vector<PreTokenizer> pre_tokenizers = {};
  TokenModel model = WordLevel{};
  std::optional<ForeignIds> foreign = {};
  std::vector<Template> templates = {};  // each around what the one before made
  WordSpelling spelling = {};
};

/// The longest text that is cut, in bytes.
inline constexpr std::size_t kLongestText = std::size_t{1} << 28;

/// The tokens of a text (valid UTF-8), for any number of threads at once.
///
/// Token::raw is the word as Hugging Face's Encoding.tokens has it; Token::text is what people read (visible()),
/// without the white space before it; of an unknown token the bytes of the text that it hides. Ranges never run
/// backwards, and without normalisation they tile the text: a token that is part of a character has only its bytes. A
/// leading space belongs to its token. Of a character that normalisation made into several, each has all bytes; what
/// was put in, and special tokens, have an empty range. `special` are those that templates add, only if
/// `add_special_tokens`; what was typed is not.
///
/// Errors: text that is too long or not UTF-8, a regular expression that comes to no end, an unknown token where the
/// tokenizer has no word for it.
Result<Tokens> encode(const Tokenizer& tokenizer, std::string_view text, bool add_special_tokens);

/// The same for a text cut by hand at `cuts` (text/words.h, are_cuts): each piece is encoded as a separate text, then
/// special tokens are put around the whole. A tokenizer that finds words looks up each piece as one word.
Result<Tokens> encode_pieces(const Tokenizer& tokenizer, std::string_view text, const std::vector<std::size_t>& cuts,
                             bool add_special_tokens);

/// Whether its template for pairs can join two texts.
bool takes_pairs(const Tokenizer& tokenizer);

/// Two texts as one sequence, only of a tokenizer that takes pairs: special tokens and types as its template for pairs
/// has them. Tokens::text is the first, a line break and the second.
Result<Tokens> encode_pair(const Tokenizer& tokenizer, std::string_view first, std::string_view second);

/// Whether it looks up words that it finds in the text, so that a word cut by hand is as good as one that it found.
bool finds_words(const Tokenizer& tokenizer);
/// The words that such a tokenizer finds; null for any other.
const Lexicon* lexicon_of(const Tokenizer& tokenizer);

/// The bytes that an id stands for in a text, a leading space among them; empty where no word has it.
std::string bytes_of_id(const Tokenizer& tokenizer, std::int64_t id);

/// The words that its ids stand for, without added tokens.
const WordTable& words_of(const Tokenizer& tokenizer);

/// The spelling of its words, as the parts of the tokenizer state it.
WordSpelling spelling_of(const Tokenizer& tokenizer);

/// The words by their ids, added tokens among them, as people read them, with their leading spaces; a row that is no
/// word's is empty.
std::shared_ptr<const Vocabulary> vocabulary_of(const Tokenizer& tokenizer);

/// For every token the number of its word, ascending from 0: tokens of one number are parts of one word, as the
/// tokenizer cut it (Tokens::has_words), else as text/words.h cuts words. A special token is alone.
std::vector<std::size_t> word_numbers(const Tokens& tokens);
/// Whether each token is a later part of the word before it: no special token, padding, or token without a byte range.
std::vector<bool> later_parts(const Tokens& tokens);

}  // namespace headlight
