// How a checkpoint reads text: its tokenizers, or why it has none, read once, when its folder is opened; and the
// lexicon of the program, by which other text is cut.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/weights.h"
#include "question/text_input.h"
#include "read/tokenizer/chat.h"
#include "read/tokenizer/tokenizer_file.h"
#include "text/tokenizer.h"
#include "text/words.h"

namespace headlight {

struct Tokenizers {
  std::shared_ptr<const Tokenizer> source;  // null: there is none, and `problem` is the reason
  std::shared_ptr<const Tokenizer> target;  // of an encoder-decoder's decoder; perhaps the same
  std::optional<Error> problem;
  std::optional<Token> start;           // what the decoder of an encoder-decoder reads first
  std::vector<std::int64_t> ends;       // ids after which nothing is written (eos_token_id)
  Token padding;                        // what sentences of a batch are filled up with
  const ChatFamily* chat = nullptr;     // how conversations are written; null: the model knows none
  std::vector<std::string> rules = {};  // of its ids that are not in its file (TokenizerFile::rules)
};

/// The tokenizers in the folder or GGUF file that `model` was read from; the model gets their words for its output
/// layer. A folder without a tokenizer is no mistake, only its texts cannot be read. A tokenizer that is broken, or has
/// more ids than the model has rows in its table of embeddings, is among the warnings.
std::shared_ptr<const Tokenizers> read_tokenizers(const std::filesystem::path& folder, Model& model,
                                                  std::vector<Error>& warnings, ClassRules rules = ClassRules::applied);

/// The lexicon among the program's assets.
Result<Lexicon> read_lexicon();
/// The same, read once; null where it cannot be read.
const Lexicon* kept_lexicon();

/// Whether this id ends a text (eos_token_id). `tokenizers` may be null.
bool is_end(const Tokenizers* tokenizers, std::int64_t id);

/// The tokens of each sentence, special tokens around them, by `tokenizer`: where boundaries were set by hand each
/// piece is encoded separately. Errors as tokens_of_lines, those of the tokenizer, and an id that a table of embeddings
/// of `rows` rows does not have. Of pairs each line of `second` is the second sentence of the line with its number; a
/// line that has none, or an empty one, is one sentence. Boundaries that were set by hand are not those of a pair.
Result<std::vector<Tokens>> encoded_lines(std::string_view where, const TextInput& input, const Tokenizer& tokenizer,
                                          Index rows, std::size_t most, std::string_view second = {});

/// The tokens of a whole text, lines of it not taken for sentences, special tokens around it. Errors as encoded_lines.
Result<Tokens> encoded_text(std::string_view where, const std::string& text, const Tokenizer& tokenizer, Index rows,
                            std::size_t most);

/// The line with a number of a text of second sentences, empty ones counted; empty where there is none.
std::string line_of_text_pair(std::string_view second, std::size_t number);

/// What a decoder reads of a text: `start` first, and nothing of what the tokenizer appends to a text, which the
/// decoder has yet to predict (transformers' shift_tokens_right).
Tokens shifted_right(Tokens tokens, const std::optional<Token>& start);

/// The ids as tokens, spelt as the tokenizer spells them; those that it would put around a text are special.
Tokens tokens_of_ids(const std::vector<std::int64_t>& ids, const Tokenizer& tokenizer,
                     const std::optional<Token>& start = std::nullopt);

/// Stores the boundaries that a word-level tokenizer finds as cuts by hand.
void set_hand_cuts(TextInput& input, const Tokenizer& tokenizer);

}  // namespace headlight
