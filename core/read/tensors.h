// A tensors file: somebody's own query, key and value with the projections of one attention layer, under the names
// that torch.nn.MultiheadAttention's users know. Read here into a Model that carries its inputs.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/matrix.h"
#include "base/result.h"
#include "model/weights.h"
#include "read/array.h"

namespace headlight {

struct TensorsFile {
  std::shared_ptr<const Model> model;  // given: query, key, value, tokens; blocks[0].self: the projections
  std::optional<Matrix> mask;          // added to the scores, (T, S) or broadcast to it
  std::vector<std::string> warnings;   // arrays that nothing asks for
};

/// `query` (T, d_model); `key`, `value` (S, …), by default `query`; `mask`; `q_proj`, `k_proj`, `v_proj`, `out_proj`
/// with `.weight` (out, in) and `.bias` (out): a missing weight is the identity, a missing bias zero. Key and value
/// may be wider or narrower than query where their projections say so. The number of heads is `num_heads` where given,
/// else the metadata's (an array of one number in an .npz). Tokens are the metadata's `tokens` and `key_tokens`, JSON
/// lists, by default 0, 1, … Errors name `where` and the array.
Result<TensorsFile> tensors_from(std::string_view where, const ArrayFile& file, std::optional<Index> num_heads);

/// `.safetensors` or `.npz`.
Result<TensorsFile> read_tensors(const std::filesystem::path& path, std::optional<Index> num_heads);

}  // namespace headlight
