#include "view/ui_scale.h"

#include <algorithm>
#include <cmath>

#include "view/settings.h"

namespace headlight {

float fitting_ui_scale(float width, float height) {
  const float scale = std::min(width / 2200, height / 1250);
  return std::clamp(std::floor(100 * scale) / 100, kLeastUiScale, kMostUiScale);
}

}  // namespace headlight
