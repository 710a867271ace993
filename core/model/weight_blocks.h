// How the numbers of a weight are stored: one by one, or in blocks of small whole numbers that share a scale, as GGUF
// files have them. Every widening is exact: each product and difference below is the one that ggml rounds to float32.
#pragma once

#include <array>
#include <string_view>

#include "base/index.h"

namespace headlight {

/// The kinds of blocks are ggml's (https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h).
enum class WeightKind {
  float16,
  bfloat16,
  float32,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  iq4_xs
};
inline constexpr int kWeightKinds = 15;

/// The largest number of numbers in a block.
inline constexpr Index kMostInBlock = 256;

struct WeightBlocks {
  std::string_view name;                   // float16, Q4_K
  Index numbers = 1;                       // in a block, which are neighbours in a row
  Index bytes = 0;                         // of a block
  std::array<Index, 2> scales = {-1, -1};  // where a block has a float16, in bytes; −1: nowhere
  /// So many blocks, on any address, as float32.
  void (*widen)(const char* from, Index blocks, float* to) = nullptr;
};

const WeightBlocks& blocks_of(WeightKind kind);

inline bool is_in_blocks(WeightKind kind) { return kind >= WeightKind::q4_0; }

}  // namespace headlight
