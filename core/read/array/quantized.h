// Quantized weights of safetensors files, which store each weight as several tensors, put together as one array of
// blocks (model/weight_blocks.h). What they stand for is computed as the library that wrote them does it in float32.
//   GPTQ          https://github.com/AutoGPTQ/AutoGPTQ/blob/v0.7.1/auto_gptq/nn_modules/qlinear/qlinear_cuda_old.py
//   AWQ           https://github.com/casper-hansen/AutoAWQ/blob/v0.2.8/awq/modules/linear/gemm.py
//   bitsandbytes  https://github.com/bitsandbytes-foundation/bitsandbytes/blob/0.45.0/bitsandbytes/functional.py
//   fp8           https://github.com/huggingface/transformers/blob/v4.49.0 integrations/finegrained_fp8.py
//   MLX           https://ml-explore.github.io/mlx/build/html/python/_autosummary/mlx.core.quantize.html
#pragma once

#include <optional>

#include <nlohmann/json_fwd.hpp>

#include "read/array/array.h"
#include "read/array/quantization.h"

namespace headlight {

/// Of a `quantization_config`, or of MLX' `quantization`; none: of another library, or in a form that is not read.
std::optional<Quantization> quantization_of(const nlohmann::json& config);

/// With each quantized weight as one array (out, in) under its name with `.weight`: in blocks where 32 neighbours in a
/// row share a scale, else in float32. Other arrays are left. Errors: a tensor of a weight that is missing or has
/// another shape or type, other numbers of bits than 2, 4 and 8, levels that are not nf4's or fp4's, a scale that is
/// not finite.
/// `shapes_alone`: no number is read, and a weight has its shape without bytes.
Result<StoredArrays> put_together(StoredArrays stored, const Quantization& how, bool shapes_alone = false);

}  // namespace headlight
