// The Model of a configuration before any tensor is read, and the place of each field in it.
#pragma once

#include <memory>

#include "model/weights.h"
#include "read/hub/config_file.h"
#include "read/hub/tensor_names.h"

namespace headlight {

/// Stacks and blocks with their numbers of heads, without a number in them.
std::shared_ptr<Model> laid_out(const HubConfig& hub);

/// The linear layer of a block that a field of FieldKind::linear is read into; `expert` of those of experts.
Linear& linear_field(Field field, Index expert, BlockWeights& block);
/// The norm of a block that a field of FieldKind::norm is read into.
NormWeights& norm_field(Field field, BlockWeights& block);

/// Each layer beyond the stored ones is as the one of its group; packed weights are shared.
void share_layers(Model& model, Index layer_groups);

}  // namespace headlight
