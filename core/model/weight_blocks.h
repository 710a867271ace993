// How the numbers of a weight are stored: one by one, or in blocks of small numbers that share a scale, as GGUF files
// have them, or as the quantized weights of safetensors files are put together (read/array/quantized.h). Every widening
// is exact: each product and sum below is the one that ggml, bitsandbytes or transformers rounds to float32.
#pragma once

#include <array>
#include <string_view>

#include "base/index.h"

namespace headlight {

/// The kinds of blocks up to iq4_xs are ggml's (https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h); those
/// behind it begin with the scale in float32.
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
  iq4_xs,
  grouped_4,  // scale·q + least, 4 bits: GPTQ, AWQ, MLX
  grouped_8,  // the same, 8 bits
  int8,       // q·scale/127: LLM.int8()
  float8,     // E4M3 numbers times the scale
  nf4,        // one of 16 levels times the scale (Dettmers et al. 2023, appendix E)
  fp4
};
inline constexpr int kWeightKinds = 21;

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

/// The levels of nf4 and fp4, as bitsandbytes stores them (`quant_map`).
inline constexpr std::array<float, 16> kNf4Levels = {-1.0f,
                                                     -0.6961928009986877f,
                                                     -0.5250730514526367f,
                                                     -0.39491748809814453f,
                                                     -0.28444138169288635f,
                                                     -0.18477343022823334f,
                                                     -0.09105003625154495f,
                                                     0.0f,
                                                     0.07958029955625534f,
                                                     0.16093020141124725f,
                                                     0.24611230194568634f,
                                                     0.33791524171829224f,
                                                     0.44070982933044434f,
                                                     0.5626170039176941f,
                                                     0.7229568362236023f,
                                                     1.0f};
inline constexpr std::array<float, 16> kFp4Levels = {
    0.0f,  0.005208333333f,  0.66666667f,  1.0f,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
    -0.0f, -0.005208333333f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f};

const WeightBlocks& blocks_of(WeightKind kind);

inline bool is_in_blocks(WeightKind kind) { return kind >= WeightKind::q4_0; }

}  // namespace headlight
