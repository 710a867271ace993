// Weights of a trained model that another training begins with.
#pragma once

#include <filesystem>

#include "train/plan.h"

namespace headlight {

/// Puts the weights of `source` (what open_model takes) in place of a training's fresh ones; the step stays, and nothing
/// of the other training's moments is known. Errors: those of open_model, and what differs from `training` and `corpus`:
/// the shape, or the words of the rows.
Status begin_with_weights(const std::filesystem::path& source, const Corpus& corpus, Training& training);

}  // namespace headlight
