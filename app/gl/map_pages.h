// Where matrices live on the graphics card: small ones side by side in pages of equal slots, large ones alone.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/matrix.h"

namespace headlight {

/// A matrix's place: a float texture and the texel of its cell (0, 0).
struct MapPlace {
  unsigned texture = 0;
  int x = 0, y = 0;
};

/// Needs the OpenGL context that was current when it was made.
class MapPages {
 public:
  MapPages() = default;
  MapPages(const MapPages&) = delete;
  ~MapPages();

  /// The place of the matrix whose content `version` names; sent to the graphics card where it is not there yet.
  /// `frame` counts frames: what was drawn in this one or the one before is never moved out.
  MapPlace place(const Matrix& weights, std::uint64_t version, int frame);

  /// Matrices sent to the graphics card so far.
  int uploads() const { return uploads_; }

 private:
  struct Held {
    MapPlace at;
    int side = 0;  // of its slot; 0 where it has a texture of its own
    std::size_t texels = 0;
    int frame = 0;
  };
  MapPlace take_slot(int side, int frame);
  MapPlace own_texture(const Matrix& weights, int frame);
  std::unordered_map<std::uint64_t, Held>::iterator oldest(bool own, int side, int frame);

  std::unordered_map<std::uint64_t, Held> held_;       // by version
  std::map<int, std::vector<MapPlace>> free_;          // by slot side
  std::vector<unsigned> pages_;
  std::size_t own_texels_ = 0;
  int uploads_ = 0;
};

}  // namespace headlight
