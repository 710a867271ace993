// A tensors file: query, key and value with the projections of one attention layer, under the names
// that torch.nn.MultiheadAttention's users know; or attention that another program computed. Read here into a Model
// that carries its inputs, or the patterns.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/matrix.h"
#include "base/result.h"
#include "model/mask.h"
#include "model/weights.h"
#include "read/array/array.h"

namespace headlight {

struct TensorsFile {
  std::shared_ptr<const Model> model;  // given: inputs, their projections in blocks[0].self; or patterns, no blocks
  MaskSpec mask = {};                  // of the file: a matrix (T, S) or broadcast to it; of an export its kind
  MaskSpec encoder_mask = {}, cross_mask = {};  // of an export
  std::vector<Error> warnings;                  // arrays that are not used, rows that do not sum to 1
};

/// Inputs: `query` (T, d_model); `key`, `value` (S, …), by default `query`; `mask`; `q_proj`, `k_proj`, `v_proj`,
/// `out_proj` with `.weight` (out, in) and `.bias` (out): a missing weight is the identity, a missing bias zero. Key
/// and value may be wider or narrower than query as their projections state. The number of heads is `num_heads`
/// where given, else the metadata's (an array of one number in an .npz). Tokens are the metadata's `tokens` and
/// `key_tokens`, JSON lists, by default 0, 1, …
///
/// Patterns, where there is no `query`: `attentions`, or of an encoder-decoder `encoder_attentions`,
/// `decoder_attentions` and `cross_attentions`, each (layers, heads, T, S), with or without a batch of one in front of
/// the layers or the heads. Tokens as above; with several of them `tokens` are the source's, `target_tokens` the
/// target's. Of a numbered batch (`0.attentions`, …) the first is taken, with a warning.
///
/// Errors name `where` and the array.
Result<TensorsFile> tensors_from(std::string_view where, ArrayFile file, std::optional<Index> num_heads);

/// Whether these are the tensors of one attention, by their names, and not the weights of a model.
bool holds_attention(const StoredArrays& stored);

/// Whether a .npy holds attention: arrays of four axes (layers, heads, T, S), or five with a batch of one; those of
/// fewer are masks.
bool holds_attention(const std::filesystem::path& npy);

/// `.safetensors`, `.npz`, such a `.npy`, or PyTorch's `.pt` and the like; or `.json`, attention as
/// parse_attention_json has it.
Result<TensorsFile> read_tensors(const std::filesystem::path& path, std::optional<Index> num_heads);

/// An Error where an export states an unknown form. BertViz's objects state none.
Status check_schema(std::string_view where, const nlohmann::json& document);

/// An object with `attention`: a list of `{"name", "attn": [layer][head][query][key], "left_text", "right_text"}`, the
/// texts' lists naming queries and keys. The names Encoder, Decoder and Cross are the stacks of an encoder-decoder;
/// under any other names the first of the list is shown. A Headlight export (`schema` headlight.attention/1) has more
/// about its tokens and its mask, which is kept; of a `batch` the first is taken. What is left out is a warning. Errors
/// name the path of a ragged list or of a weight that is not one.
Result<TensorsFile> parse_attention_json(std::string_view where, std::string_view text);

Result<TensorsFile> read_attention_json(const std::filesystem::path& path);

/// The array at the path `field` of a file, with at most so many axes. Takes no more memory than the numbers that are
/// there, whatever sizes the first lists have. Errors name the path of an empty or ragged list, and of what is no
/// number.
Result<Array> nested_numbers(std::string_view where, const std::string& field, const nlohmann::json& list,
                             std::size_t most_axes);

/// A mask as an export has it, rows [query][key] of 1 (may attend) and 0, or such rows of each head, as addends: 0 and
/// −inf.
Result<MaskSpec> exported_mask(std::string_view where, const std::string& field, const nlohmann::json& allowed);

}  // namespace headlight
