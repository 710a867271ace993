#include "view/ui_scale.h"

#include <algorithm>
#include <cmath>

#include "view/settings.h"

namespace headlight {

float fitting_ui_scale(float width, float height) {
  const float quarters = std::floor(4 * std::min(width / 1600, height / 1000));
  return std::clamp(quarters / 4, kLeastUiScale, kMostUiScale);
}

}  // namespace headlight
