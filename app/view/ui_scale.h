// The size of everything that suits a window or a screen.
#pragma once

namespace headlight {

/// What 2200 × 1250 pixels show at 100 % a larger window shows larger, from kLeastUiScale to kMostUiScale in steps of 1 %: larger
/// steps would make the maps smaller in a window that is a pixel larger. In a window of that shape the maps' room is as wide as
/// it is high, so that neither side loses by the other's growth. Pixels are those at the display's own scale.
float fitting_ui_scale(float width, float height);

}  // namespace headlight
