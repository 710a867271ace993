// The parts of a model that only families which read pictures store, and what they become for a grid of patches.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "model/weights.h"
#include "read/hub/config_file.h"

namespace headlight {

struct PictureParts {
  Matrix class_token, distillation_token, registers;
  Linear projection;
  std::vector<Vector> attention_scales, ffn_scales;  // of each layer; empty: 1
  std::vector<Matrix> pair_biases;                   // (distances, H) of each layer, or one of all; empty: none
};

/// Reads preprocessor_config.json of the folder, where there is one, and sets the grid that hub.picture is asked for.
/// Errors: a size that the family has no positions for.
Result<std::shared_ptr<const Preprocessing>> take_preprocessing(const std::filesystem::path& folder, HubConfig& hub);

/// Sets the embedding of patches, the positions, the biases and what a classifier reads of the model, whose
/// embeddings.positions is the table as it is stored.
void set_pictures(const HubConfig& hub, PictureParts parts, Model& model);

/// One layer (n, 2·d) that gives the mean of what two give, (n, d) each, without biases.
std::shared_ptr<const Linear> mean_of_both(const Linear& first, const Linear& second);

/// A table of positions (rows·cols, d) for another grid, by bicubic interpolation as torch.nn.functional.interpolate
/// has it (align_corners false): cubic convolution (Keys 1981) with a = −0.75; `smoothed`: with a = −0.5 and, where the
/// grid gets smaller, the kernel widened.
Matrix resized_positions(const Matrix& table, Index rows, Index cols, Index new_rows, Index new_cols, bool smoothed);

}  // namespace headlight
