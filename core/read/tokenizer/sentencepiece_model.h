// SentencePiece's .model: a protocol buffer of pieces with scores and how a text is normalised, read by hand.
// https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

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
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
};

/// Errors: bytes that are no protocol buffer, a length beyond the end, a piece that is empty, not UTF-8 or there twice,
/// a score that is not finite, more pieces than ids are accepted, an unk_id that is no piece's. Fields that are not
/// needed are passed over.
Result<SentencePieceModel> parse_sentencepiece_model(std::string_view where, std::string_view bytes);

}  // namespace headlight
