// SentencePiece's .model, a protocol buffer of pieces with scores and how a text is normalised, read by hand
// (https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto), and as the tokenizer that
// Hugging Face's converter makes of it, family by family.
// https://github.com/huggingface/transformers/blob/main/src/transformers/convert_slow_tokenizer.py
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "read/tokenizer/tokenizer_file.h"
#include "text/tokenizer.h"

namespace headlight {

struct SentencePieceModel {
  enum class Kind { unigram = 1, bpe = 2, word = 3, character = 4 };
  enum class PieceKind { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
  struct Piece {
    std::string text;
    float score = 0;  // finite
    PieceKind kind = PieceKind::normal;
  };

  std::vector<Piece> pieces;  // by id
  Kind kind = Kind::unigram;
  std::int64_t unknown_id = 0;  // of pieces
  bool byte_fallback = false;
  std::string charsmap;  // empty: the text is not changed
};

/// Errors: bytes that are no protocol buffer, a length beyond the end, a piece that is empty, not UTF-8 or there twice,
/// a score that is not finite, more pieces than ids are accepted, an unk_id that is no piece's. Fields that are not
/// needed are passed over.
Result<SentencePieceModel> parse_sentencepiece_model(std::string_view where, std::string_view bytes);

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
/// of languages, >>fra<<, are tokens. The text itself is normalised as the model states.
Result<Tokenizer> marian_tokenizer(std::string_view where, const SentencePieceModel& model, WordTable vocabulary);

}  // namespace headlight
