// The size of everything that suits a window or a screen.
#pragma once

namespace headlight {

/// What 1600 × 1000 pixels show at 100 % a larger window shows larger, in quarters, from kLeastUiScale to kMostUiScale; pixels are
/// those at the display's own scale.
float fitting_ui_scale(float width, float height);

}  // namespace headlight
