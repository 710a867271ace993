#include "gui/frame/motion.h"

#include <algorithm>

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
  std::erase_if(fades_by_slot_, [&](const auto& entry) { return entry.second.frame != frame_; });
  ++frame_;
}

void Motion::take(Fade& fade, const Matrix& weights, std::uint64_t version, const Box& box) const {
  const bool fresh = fade.now.size() == 0;
  const bool fits = fade.now.rows() == weights.rows() && fade.now.cols() == weights.cols() && fade.box == box;
  if (!fresh && fits && fade.version == version) return;
  if (fresh || !fits || fade.now == weights) {
    fade.changed = -1;
  } else {
    std::swap(fade.before, fade.now);
    fade.version_before = fade.version;
    fade.changed = now_;
  }
  fade.now = weights;
  fade.version = version;
  fade.box = box;
}

void Motion::draw(MapPainter& maps, ImDrawList& list, std::uint64_t slot, const Matrix& weights, std::uint64_t version,
                  const Box& box, const ColourScale& scale, float opacity) {
  const ImVec2 min{box.x, box.y}, max{box.right(), box.bottom()};
  float share = 1;
  if (fades_ && weights.size() <= kMostCells) {
    Fade& fade = fades_by_slot_[slot];
    fade.frame = frame_;
    take(fade, weights, version, box);
    if (fade.changed >= 0) share = std::min(1.0f, static_cast<float>((now_ - fade.changed) / kFade));
    if (share < 1) {
      maps.draw(list, fade.before, fade.version_before, min, max, scale, opacity);
      moving_ = true;
      share = share * share * (3 - 2 * share);
    } else {
      fade.changed = -1;
    }
  }
  maps.draw(list, weights, version, min, max, scale, opacity * share);
}

}  // namespace headlight
