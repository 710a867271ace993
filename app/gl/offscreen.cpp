#include "gl/offscreen.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <cassert>

namespace headlight {

Result<Offscreen> Offscreen::open(int width, int height) {
  assert(width > 0 && height > 0);
  auto context = TRY(open_surface());
  Offscreen surface(std::move(context), width, height);
  GLint largest = 0;
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
  if (width > largest || height > largest)
    return bad_input("offscreen", "size", "at most " + std::to_string(largest) + " pixels a side",
                     std::to_string(width) + "x" + std::to_string(height));
  glGenRenderbuffers(1, &surface.colour_);
  glBindRenderbuffer(GL_RENDERBUFFER, surface.colour_);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
  glGenFramebuffers(1, &surface.framebuffer_);
  glBindFramebuffer(GL_FRAMEBUFFER, surface.framebuffer_);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, surface.colour_);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
    return no_surface("a framebuffer object that is not complete");
  glViewport(0, 0, width, height);
  return surface;
}

Offscreen::~Offscreen() {
  if (!context_) return;
  if (framebuffer_) glDeleteFramebuffers(1, &framebuffer_);
  if (colour_) glDeleteRenderbuffers(1, &colour_);
}

Picture Offscreen::read() const {
  const auto stride = static_cast<std::size_t>(width_) * 3;
  Picture picture{width_, height_, std::vector<std::uint8_t>(stride * static_cast<std::size_t>(height_))};
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer_);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width_, height_, GL_RGB, GL_UNSIGNED_BYTE, picture.pixels.data());
  // OpenGL's first row is the lowest.
  for (int top = 0, bottom = height_ - 1; top < bottom; ++top, --bottom) {
    const auto row = picture.pixels.begin() + static_cast<std::ptrdiff_t>(stride) * top;
    std::swap_ranges(row, row + static_cast<std::ptrdiff_t>(stride),
                     picture.pixels.begin() + static_cast<std::ptrdiff_t>(stride) * bottom);
  }
  return picture;
}

}  // namespace headlight
