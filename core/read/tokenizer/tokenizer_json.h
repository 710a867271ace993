// tokenizer.json: a whole tokenizer as Hugging Face's tokenizers write it, version 1.0.
// https://huggingface.co/docs/tokenizers/api/tokenizer
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "read/json/json_fields.h"
#include "text/tokenizer.h"

namespace headlight {

struct TokenizerJson {
  Tokenizer tokenizer;
  std::vector<Error> warnings;
};

/// Ids are those that the library itself would give: an added token that the vocabulary has takes its id from there,
/// others are numbered on from the vocabulary's size, whatever the file states. Truncation, padding and dropout are not
/// applied, as transformers does not apply them by default, with a warning. Errors name `where` and the field.
Result<TokenizerJson> parse_tokenizer_json(std::string_view where, std::string_view text);
/// The same of a document that was parsed; `kept`: its words and merges, which then are not read from the document.
Result<TokenizerJson> tokenizer_from_json(std::string_view where, const nlohmann::json& document,
                                          const Bpe* kept = nullptr);

/// A vocabulary {word: id}; ids are unique and below kMostTokenIds.
std::vector<WordTable::Word> vocabulary_from(const JsonField& field);

/// Merges as lines "a b" (a line that begins with #version is none).
Result<std::vector<std::pair<std::string_view, std::string_view>>> merges_from_lines(
    std::string_view where, const std::vector<std::string_view>& lines);

/// An added token as its files describe it.
AddedToken added_token_from(const JsonField& field, std::int32_t id);

/// Gives the tokenizer its added tokens: their ids and what they look like normalised.
Status set_added_tokens(Tokenizer& tokenizer, std::vector<AddedToken> tokens);

}  // namespace headlight
