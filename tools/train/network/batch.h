// The input of one step of training: sentences as rows of the token table, and the words to predict.
#pragma once

#include <cstdint>
#include <vector>

#include "base/index.h"

namespace headlight {

/// `count` sentences side by side, each padded to `length` tokens; the padding is never read.
struct Sentences {
  Index count = 0, length = 0;
  std::vector<std::int32_t> ids;      // (count · length) rows of the token table, sentence after sentence
  std::vector<std::int32_t> lengths;  // (count) each 1 to `length`

  /// Tokens that are not padding.
  Index tokens() const {
    Index sum = 0;
    for (const std::int32_t one : lengths) sum += one;
    return sum;
  }
};

/// The positions, side by side, that a head is taught to attend to from one position: the pieces of a word.
struct AttentionTarget {
  std::int32_t sentence = 0;
  std::int32_t layer = 0, head = 0;  // of the main stack's self-attention
  std::int32_t query = 0;            // a position in the sentence
  std::int32_t first = 0, end = 1;   // positions [first, end), those that it should attend to
  float weight = 1;
  bool rest = false;  // the position of a word that has no such relation
};

struct Batch {
  Sentences input;                    // what the main stack reads: the encoder of an encoder, else the decoder
  Sentences source;                   // what the encoder of an encoder-decoder reads, as many sentences; else empty
  std::vector<std::int32_t> targets;  // (input.count · input.length) the word to predict at each position; −1: none
  std::vector<float> weights = {};    // of the targets, as many; empty: all 1
  std::vector<AttentionTarget> attention = {};  // ascending by sentence, layer and head
};

}  // namespace headlight
