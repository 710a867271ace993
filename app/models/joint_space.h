// The space that the two parts of CLIP share: a picture and a text are one vector each there (Radford et al. 2021,
// "Learning Transferable Visual Models From Natural Language Supervision", Figure 3).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/result.h"
#include "model/trace.h"

namespace headlight {

struct JointSpace {
  NormWeights picture_norm;              // of the class token, before its projection
  Matrix of_picture, of_text;            // (d, width of the part)
  float scale = 1;                       // of cosines, before the softmax over texts: exp(logit_scale)
  std::optional<std::int64_t> end = {};  // the id at which a text ends; none: the largest of its ids
};

/// That of a folder, whose parts have answers of these widths. Errors: a model without such a space, numbers that are
/// missing or misshapen.
Result<JointSpace> read_joint_space(const std::filesystem::path& folder, Index picture_width, Index text_width);

/// The answer of a part in the space, of length 1: the class token of a picture, the token at which a text ends.
Vector place_of_picture(const JointSpace& space, const Trace& picture);
Vector place_of_text(const JointSpace& space, const Trace& text);

}  // namespace headlight
