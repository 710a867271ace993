// SentencePiece's .model, a protocol buffer of pieces with scores and how a text is normalised, read by hand
// (https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto), and as the tokenizer that
// Hugging Face's converter makes of it, family by family.
// https://github.com/huggingface/transformers/blob/main/src/transformers/convert_slow_tokenizer.py
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "read/tokenizer/vocabulary_files.h"
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

/// What a class makes of the pieces: their ids, and how the text is normalised. Templates of mBART's and of Llama's
/// kind are apply_template's.
enum class SentencePieceFamily {
  llama,        // byte-pair pieces as they are numbered; <s> before the text
  gemma,        // the same with <pad> <eos> <bos> first, no ▁ before the text
  t5,           // unigram; <extra_id_…> behind the pieces, the last first; </s> after the text
  xlm_roberta,  // <s> <pad> </s> <unk> instead of the first three, <mask> at the end; <s> … </s>
  camembert,    // five pieces instead of the first, <mask> at the end; <s> … </s>
  albert,       // quotes, accents and capitals changed; [CLS] … [SEP]
  deberta_v2,   // [MASK] behind the pieces; [CLS] … [SEP]
  mbart,        // as XLM-R, with 25 languages before <mask>
  mbart50,      // with 52
  m2m_100,      // numbered by vocab.json, languages behind; a language … </s>
};

/// By the class, else by that of config.json's model type, else the name of the file. Errors: none of these.
Result<SentencePieceFamily> sentencepiece_family(std::string_view where, std::string_view file_name,
                                                 const TokenizerSettings& settings);

/// Errors: a model of another kind than the family's, a charsmap that is broken, a special token that is missing. The
/// family m2m_100 needs the `vocabulary` of vocab.json.
Result<UnfinishedTokenizer> sentencepiece_tokenizer(const std::filesystem::path& path, const SentencePieceModel& model,
                                                    SentencePieceFamily family, const TokenizerSettings& settings,
                                                    WordTable vocabulary = {});

/// Control pieces and those that users defined, which are looked for in the text.
std::vector<AddedToken> added_of(const SentencePieceModel& model);
/// Adds a special token, unless there is one of this content.
void add_special(std::vector<AddedToken>& added, const std::string& content, bool strip_left = false);

/// Every way to put a piece together from two others is a merge; the pieces of the highest score come first, of these
/// the longest left part.
std::vector<std::pair<std::string_view, std::string_view>> merges_of(const SentencePieceModel& model,
                                                                     const WordTable& words);

/// The tokenizer of a family whose pieces are the model's in their order, with others before and behind.
Result<UnfinishedTokenizer> pieces_tokenizer(const std::filesystem::path& path, const SentencePieceModel& model,
                                             SentencePieceFamily family, const TokenizerSettings& settings,
                                             WordTable vocabulary);

/// Marian: the pieces of a unigram, looked up in vocab.json, which numbers both languages; </s> after the text. Codes
/// of languages, >>fra<<, are tokens. The text itself is normalised as the model states.
Result<Tokenizer> marian_tokenizer(std::string_view where, const SentencePieceModel& model, WordTable vocabulary);

}  // namespace headlight
