#include "gui/frame/motion.h"

#include <algorithm>
#include <utility>

namespace headlight {
namespace {

/// Larger maps are not kept for fading: copying them would take longer than drawing them.
constexpr Index kMostCells = 128 * 128;

}  // namespace

void Motion::begin_frame(double now, bool fades, bool stale) {
  if (stale && !stale_) stale_since_ = now;
  stale_ = stale;
  fades_ = fades;
  moving_ = false;
  now_ = now;
  // What was not drawn in the last frame has left the window.
  std::erase_if(places_, [&](const auto& entry) { return entry.second.frame != frame_; });
  ++frame_;
}

void Motion::take(Place& place, const Matrix& weights, std::uint64_t version, const Box& box) const {
  const bool fresh = place.now.size() == 0;
  const bool fits = place.now.rows() == weights.rows() && place.now.cols() == weights.cols() && place.box == box;
  if (!fresh && fits && place.version == version) return;
  if (fresh || !fits || place.now == weights) {
    place.changed = -1;
  } else {
    std::swap(place.before, place.now);
    place.version_before = place.version;
    place.changed = now_;
  }
  place.now = weights;
  place.version = version;
  place.box = box;
}

void Motion::draw(MapPainter& maps, ImDrawList& list, std::uint64_t slot, const Matrix& weights, std::uint64_t version,
                  const Box& box, const ColourScale& scale, float opacity) {
  const ImVec2 min{box.x, box.y}, max{box.right(), box.bottom()};
  float share = 1;
  if (fades_ && weights.size() <= kMostCells) {
    Place& place = places_[slot];
    place.frame = frame_;
    take(place, weights, version, box);
    if (place.changed >= 0) share = std::min(1.0f, static_cast<float>((now_ - place.changed) / kFade));
    if (share < 1) {
      maps.draw(list, place.before, place.version_before, min, max, scale, opacity);
      moving_ = true;
      share = share * share * (3 - 2 * share);
    } else {
      place.changed = -1;
    }
  }
  maps.draw(list, weights, version, min, max, scale, opacity * share);
}

}  // namespace headlight
