// OpenGL without a window that is seen: EGL (posix/surface.cpp), or a hidden window (windows/surface.cpp).
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"

namespace headlight {

/// An OpenGL 3.3 core context, current on this thread as long as this lives.
using Surface = std::shared_ptr<void>;

/// One at a time. An Error names what to install.
Result<Surface> open_surface();

/// The Error of a system that gives none.
Error no_surface(std::string_view found);
/// What a window expects of the system's OpenGL, and what to install for it.
const char* opengl_of_window();

}  // namespace headlight
