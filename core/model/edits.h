// What the user changes inside the computation, beside the mask.
#pragma once

#include <optional>

namespace headlight {

struct Edits {
  std::optional<float> scale;  // multiplies the scores in place of 1/sqrt(d_k)

  friend bool operator==(const Edits&, const Edits&) = default;
};

}  // namespace headlight
