// How the weights of a checkpoint were quantized, as its configuration says it (read/array/quantized.h).
#pragma once

#include "base/index.h"

namespace headlight {

struct Quantization {
  enum class Method { none, gptq, awq, bitsandbytes, fp8, mlx } method = Method::none;
  Index group_size = 0;                  // MLX: neighbours in a row that share a scale
  bool zeros_less_one = false;           // GPTQ: each zero is stored less 1, as its first format does it
  Index scale_rows = 0, scale_cols = 0;  // fp8: of the tiles that share a scale
};

}  // namespace headlight
