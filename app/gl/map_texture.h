// MapPainter on OpenGL: matrices as float texels in shared pages, coloured by shaders/map.frag.
#pragma once

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "gui/frame/maps.h"

namespace headlight {

/// Needs a current OpenGL 3.3 context, and the same one whenever it draws and when it goes; reads map.vert and map.frag
/// from `shaders`. Matrices reach the graphics card when a visible part of them is first drawn, and leave it when they
/// have not been drawn for a while and room is needed. Where there are fewer pixels than cells, along either side, they
/// are sent pooled (figure/drawing/pooled_map.h), once for each size in which they are drawn.
Result<std::unique_ptr<MapPainter>> make_map_painter(const std::filesystem::path& shaders);

/// Matrices that such a painter has sent to the graphics card so far.
int uploads(const MapPainter& painter);

}  // namespace headlight
