// A surface without a display, for screenshots: a framebuffer object.
#pragma once

#include <utility>

#include "gl/surface.h"
#include "model/picture.h"

namespace headlight {

class Offscreen {
 public:
  /// An OpenGL 3.3 core context, current on this thread, with a framebuffer of this size bound. One at a time.
  /// An Error names the packages to install.
  static Result<Offscreen> open(int width, int height);
  Offscreen(Offscreen&& other) = default;
  Offscreen& operator=(Offscreen&&) = delete;
  ~Offscreen();

  /// The pixels that were drawn.
  Picture read() const;

 private:
  Offscreen(Surface context, int width, int height) : context_(std::move(context)), width_(width), height_(height) {}
  Surface context_;
  unsigned framebuffer_ = 0, colour_ = 0;
  int width_ = 0, height_ = 0;
};

}  // namespace headlight
