// A surface without a display, for screenshots: a framebuffer object.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gl/surface.h"

namespace headlight {

struct Pixels {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // 3 bytes a pixel, first row on top
};

class Offscreen {
 public:
  /// An OpenGL 3.3 core context, current on this thread, with a framebuffer of this size bound. One at a time.
  /// An Error names the packages to install.
  static Result<Offscreen> open(int width, int height);
  Offscreen(Offscreen&& other) = default;
  Offscreen& operator=(Offscreen&&) = delete;
  ~Offscreen();

  /// The pixels that were drawn.
  Pixels read() const;

 private:
  Offscreen(Surface context, int width, int height) : context_(std::move(context)), width_(width), height_(height) {}
  Surface context_;
  unsigned framebuffer_ = 0, colour_ = 0;
  int width_ = 0, height_ = 0;
};

/// PNG bytes (libpng), the same for the same pixels.
Result<std::string> png(const Pixels& pixels);

}  // namespace headlight
