// What moves in the window: maps that fade from the old answer to the new one, and how soon a map that is out of date
// grows paler. Without a Motion everything is drawn as it is in the end.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "figure/drawing/map_layout.h"
#include "gui/frame/maps.h"

namespace headlight {

class Motion {
 public:
  /// Before each frame: the time in seconds, whether maps fade, whether the answer on the screen is out of date.
  void begin_frame(double now, bool fades, bool stale);

  /// MapPainter::draw, fading for kFade seconds where the slot, named by `slot`, had another matrix of the same shape
  /// in the same box before.
  void draw(MapPainter& maps, ImDrawList& list, std::uint64_t slot, const Matrix& weights, std::uint64_t version,
            const Box& box, const ColourScale& scale, float opacity);

  /// Whether the answer has been out of date for so long that it should be seen; an answer that comes soon never
  /// flickers.
  bool seen_stale() const { return stale_ && now_ - stale_since_ >= kPatience; }
  /// Whether something still changes, so that another frame is needed.
  bool is_moving() const { return moving_ || (stale_ && !seen_stale()); }

  static constexpr double kFade = 0.12, kPatience = 0.25;

 private:
  struct Fade {
    Matrix now, before;
    std::uint64_t version = 0, version_before = 0;
    Box box;
    double changed = -1;  // when `before` was left; below 0: it never was
    std::uint64_t frame = 0;
  };
  void take(Fade& fade, const Matrix& weights, std::uint64_t version, const Box& box) const;

  std::unordered_map<std::uint64_t, Fade> fades_by_slot_;
  double now_ = 0, stale_since_ = 0;
  std::uint64_t frame_ = 0;
  bool fades_ = false, stale_ = false, moving_ = false;
};

}  // namespace headlight
