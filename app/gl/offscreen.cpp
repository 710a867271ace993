#include "gl/offscreen.h"

#include <epoxy/gl.h>
#include <png.h>

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

Pixels Offscreen::read() const {
  const auto stride = static_cast<std::size_t>(width_) * 3;
  Pixels pixels{width_, height_, std::vector<std::uint8_t>(stride * static_cast<std::size_t>(height_))};
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer_);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width_, height_, GL_RGB, GL_UNSIGNED_BYTE, pixels.rgb.data());
  // OpenGL's first row is the lowest.
  for (int top = 0, bottom = height_ - 1; top < bottom; ++top, --bottom) {
    const auto row = pixels.rgb.begin() + static_cast<std::ptrdiff_t>(stride) * top;
    std::swap_ranges(row, row + static_cast<std::ptrdiff_t>(stride),
                     pixels.rgb.begin() + static_cast<std::ptrdiff_t>(stride) * bottom);
  }
  return pixels;
}

Result<std::string> png(const Pixels& pixels) {
  assert(pixels.rgb.size() == static_cast<std::size_t>(pixels.width) * static_cast<std::size_t>(pixels.height) * 3);
  // The simplified interface writes neither a time nor a library's name: the same pixels are the same bytes.
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(pixels.width);
  image.height = static_cast<png_uint_32>(pixels.height);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (!png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.rgb.data(), 0, nullptr))
    return bad_input("png", "", "a picture that libpng can write", image.message);
  bytes.resize(size);
  return bytes;
}

}  // namespace headlight
