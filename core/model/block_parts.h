// Which parts a block has that can be switched off.
#pragma once

#include "base/result.h"
#include "model/edits.h"
#include "model/weights.h"

namespace headlight {

/// Whether this layer of the model has such a part: a tensors file has neither residual sum, norm nor feed-forward, and
/// weights that another program computed have no scale. Of Stack::cross only the scale is its own.
bool has_part(const Model& model, Stack stack, Index layer, BlockPart part);

/// An Error that names the first part that is switched off and that the model does not have.
Status check_parts(const Model& model, const Edits& edits);

}  // namespace headlight
