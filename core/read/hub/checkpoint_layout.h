// The Model of a configuration before any tensor is read, the field of it that each tensor fills, and weights that no
// file stores as the model holds them: parts of fused projections, and those that follow from the configuration alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "model/weights.h"
#include "read/hub/config_file.h"
#include "read/hub/tensor_names.h"

namespace headlight {

/// Stacks and blocks with their numbers of heads, without a number in them.
std::shared_ptr<Model> laid_out(const HubConfig& hub);

/// The tensors of a family. Where it stores linear layers (in, out) and each matrix that is not square lies the other
/// way round (nanoGPT's files have GPT-2's names), all are plain. `lies_so`: whether a row's array has this shape.
std::vector<Row> rows_as_stored(const HubConfig& hub, bool with_output,
                                const std::function<bool(const Row& row, TensorShape size)>& lies_so);

/// A layer that is always in memory.
Linear in_memory(Linear linear);
/// The same, each output multiplied.
Linear scaled(Linear linear, const Vector& factors);

/// Of a layer some of whose heads are pruned: what is stored of a row, and that with the others' rows, or columns of
/// the output, as zeros. Such a head looks everywhere alike and adds nothing.
TensorShape shape_of_left(const Row& row, std::size_t layer, const HubConfig& hub);
Linear at_their_heads(Linear left, const Row& row, std::size_t layer, const HubConfig& hub);

/// The linear layer of a block that a field of FieldKind::linear is read into; `expert` of those of experts.
Linear& linear_field(Field field, Index expert, BlockWeights& block);
/// The norm of a block that a field of FieldKind::norm is read into.
NormWeights& norm_field(Field field, BlockWeights& block);

/// Each layer beyond the stored ones is as the one of its group; packed weights are shared.
void share_layers(Model& model, Index layer_groups);

/// Rows `first` to `first + count` of a fused projection.
Linear part_of(const Linear& fused, Index first, Index count);

/// The rows of `which` (0 query, 1 key, 2 value) of a projection that has, for each head of keys, the queries of its
/// group, the key and the value one below the other.
Linear part_of_heads(const Linear& fused, Index which, Index heads, Index kv_heads);

/// The bias −m·distance of each head (Press et al. 2022, section 3): m falls from head to head by powers of two; where
/// the heads are no power of two, those beyond the last one take every other m of twice as many.
std::shared_ptr<const RelativeBias> linear_biases(Index heads, Index distances);

/// The bias m·position of each key, times the scale of the scores. Slope, position and product are rounded to bfloat16,
/// as in the training and in every answer of Falcon-RW (Penedo et al. 2023; the code of its repository), so that it is
/// no function of the distance.
std::shared_ptr<const RelativeBias> linear_key_biases(Index heads, Index positions, double scale);

/// (rows, d): sines, then cosines, of frequencies that fall from 1 to 1/10000 (Ott et al. 2019, fairseq); the row of
/// padding is zero.
Matrix falling_sinusoids(Index rows, Index d, std::optional<std::int64_t> pad);

/// Empties the tables of two stacks where both hold the sines, then cosines, of so many positions, or nothing: the
/// model computes them. Else (they hold anything else, be it only rounded to half precision) false, and an empty one is
/// filled with the sines and cosines that it stands for.
bool drop_sinusoids(Matrix& decoder, Matrix& encoder, Index rows);

}  // namespace headlight
