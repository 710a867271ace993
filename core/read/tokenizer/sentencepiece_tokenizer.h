// A SentencePiece model as the tokenizer that Hugging Face's converter makes of it, family by family.
// https://github.com/huggingface/transformers/blob/main/src/transformers/convert_slow_tokenizer.py
#pragma once

#include <string_view>

#include "base/result.h"
#include "read/tokenizer/sentencepiece_model.h"
#include "read/tokenizer/tokenizer_settings.h"
#include "text/tokenizer.h"

namespace headlight {

enum class SentencePieceFamily {
  llama,        // byte-pair pieces as they are numbered; <s> before the text
  t5,           // unigram; 100 <extra_id_…> behind the pieces, the last first; </s> after the text
  xlm_roberta,  // unigram; <s> <pad> </s> <unk> instead of the first three, <mask> at the end; <s> … </s>
};

/// By tokenizer_config.json's class, else config.json's model type, else the name of the file. Errors: none of these.
Result<SentencePieceFamily> sentencepiece_family(std::string_view where, std::string_view file_name,
                                                 const TokenizerSettings& settings);

/// Errors: a model of another kind than the family's, a charsmap that is broken, a special token that is missing.
Result<Tokenizer> sentencepiece_tokenizer(std::string_view where, const SentencePieceModel& model,
                                          SentencePieceFamily family, const TokenizerSettings& settings);

/// Marian: the pieces of a unigram, looked up in vocab.json, which numbers both languages; </s> after the text. Codes
/// of languages, >>fra<<, are tokens. The text itself goes through the model's own normalisation.
Result<Tokenizer> marian_tokenizer(std::string_view where, const SentencePieceModel& model, WordTable vocabulary);

}  // namespace headlight
