// The scene of the view `followed`: each query of a head beside the key with its largest weight.
#pragma once

#include <string>
#include <vector>

#include "figure/drawing/drawing.h"
#include "figure/labels.h"
#include "model/trace.h"

namespace headlight {

/// Adds a line for each query from `top` down. Hit boxes: `followed I`.
void add_followed(Drawing& scene, const Trace& trace, const HeadRef& head, float top, float size, Rgb colour,
                  const TextWidth& measure);

}  // namespace headlight
