// A mask from a file, as NumPy or JSON writes it.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/matrix.h"
#include "base/result.h"
#include "model/mask.h"
#include "read/array/array.h"

namespace headlight {

/// The addends of the scores (queries, keys), from an array of that shape, or (keys) for all queries alike. Of three
/// axes one is the batch and must be 1: (queries, keys, 1), or (1, queries, keys) where the last is not 1; so (1,
/// keys, 1) is one row for all queries. Of four axes, (1, H, queries, keys), all heads must have the same. A side of
/// 1 is for all queries, or for all keys. bool and integers 0/1: 1 = may attend → 0, 0 → −inf. Floats are added as
/// they are; NaN and +inf are Errors. Floats of nothing but 0 and 1, of each at least one, are a boolean mask that
/// was stored as numbers (added, they would mask nothing): read as such, and `notes` gets a line about it.
Result<Matrix> additive_mask(std::string_view where, std::string_view what, const Array& array,
                             std::vector<Error>& notes);

/// A JSON list of rows [query][key] of true/false or 1/0, true = may attend, or of floats and -Infinity to be added to
/// the scores, which becomes `given`; or such lists in lists, of three axes or four (sentences, 1 or heads, queries,
/// keys), which become `batch`; or an object with such a list under "allowed"; or an object that has that one under
/// "mask", as an export has.
/// `boolean` becomes whether its cells are true and false, or 1 and 0.
Result<MaskSpec> parse_json_mask(std::string_view where, std::string_view text, bool* boolean = nullptr);

/// What an array gives to a mask: `given`, or of three axes, or four, (sentences, heads, queries, keys), `batch`
/// (model/batch_mask.h). Whether it fits a sentence is checked when it is applied to one.
Result<MaskSpec> mask_of_array(std::string_view where, Array array, std::vector<Error>& notes, bool* boolean = nullptr);

/// The mask beside arrays of so many queries, keys and heads: that of additive_mask(), or one of each head.
Result<MaskSpec> mask_beside(std::string_view where, const Array& array, Index queries, Index keys, Index heads,
                             std::vector<Error>& notes);

/// What a file gives to a mask, `.npy` or `.json`.
Result<MaskSpec> read_mask(const std::filesystem::path& path, std::vector<Error>& notes, bool* boolean = nullptr);

/// The same boolean mask where true blocks, as in torch.nn.MultiheadAttention's attn_mask and key_padding_mask.
MaskSpec with_true_blocking(MaskSpec mask);

/// Of weights that another program computed, [layer][head] (T, S): whether those that the mask blocks are 0.
bool blocks_only_zeros(const std::vector<std::vector<Matrix>>& patterns, const MaskSpec& mask);

}  // namespace headlight
