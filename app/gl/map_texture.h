// MapPainter on OpenGL: matrices as float texels in shared pages, coloured by shaders/map.frag.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/matrix.h"
#include "base/result.h"
#include "figure/drawing/pooled_map.h"
#include "gui/frame/maps.h"

namespace headlight {

/// Which matrix it is: the content that `version` names, and, where it is pooled, how, and from where to where along
/// each axis that is crowded.
struct MapKey {
  std::uint64_t version = 0;
  PixelSpan rows = {}, columns = {};
  bool diverging = false;
  auto operator<=>(const MapKey&) const = default;
};

/// The slot of a matrix: a float texture and the texel of its cell (0, 0).
struct MapSlot {
  unsigned texture = 0;
  int x = 0, y = 0;
  int rows = 0, columns = 0;
  bool negative = false;  // whether any of its numbers is
};

/// Needs the OpenGL context that was current when it was made.
class MapPages {
 public:
  MapPages() = default;
  MapPages(const MapPages&) = delete;
  ~MapPages();

  /// The slot of a matrix that was sent to the graphics card and is still there. `frame` counts frames: what was drawn
  /// in this one or the one before is never moved out.
  std::optional<MapSlot> find(const MapKey& key, int frame);
  /// Sends one that is not there. It has no more rows or columns than GL_MAX_TEXTURE_SIZE.
  MapSlot add(const Matrix& weights, const MapKey& key, int frame);

  /// Matrices sent to the graphics card so far.
  int uploads() const { return uploads_; }

 private:
  struct Held {
    MapSlot at;
    int side = 0;  // of its slot; 0 where it has a separate texture
    std::size_t texels = 0;
    int frame = 0;
  };
  MapSlot take_slot(int side, int frame);
  MapSlot own_texture(const Matrix& weights, int frame);
  std::map<MapKey, Held>::iterator oldest(bool own, int side, int frame);

  std::map<MapKey, Held> held_;
  std::map<int, std::vector<MapSlot>> free_;  // by slot side
  std::vector<unsigned> pages_;
  std::size_t own_texels_ = 0;
  int uploads_ = 0;
};

/// Needs a current OpenGL 3.3 context, and the same one whenever it draws and when it goes; reads map.vert and map.frag
/// from `shaders`. Matrices reach the graphics card when a visible part of them is first drawn, and leave it when they
/// have not been drawn for a while and room is needed. Where there are fewer pixels than cells, along either side, they
/// are sent pooled (figure/drawing/pooled_map.h), once for each size in which they are drawn.
Result<std::unique_ptr<MapPainter>> make_map_painter(const std::filesystem::path& shaders);

/// Matrices that such a painter has sent to the graphics card so far.
int uploads(const MapPainter& painter);

}  // namespace headlight
