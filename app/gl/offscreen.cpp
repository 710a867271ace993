#include "gl/offscreen.h"

#include <dlfcn.h>
#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <png.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <utility>

#include "base/formatted.h"

namespace headlight {
namespace {

constexpr const char* kPackages = "EGL with Mesa's surfaceless platform (packages libegl1, libgl1, libgl1-mesa-dri)";

Error no_surface(std::string_view found) { return bad_input("offscreen", "OpenGL 3.3", kPackages, found); }

std::string egl_failure(const char* call) {
  return formatted("%s failing with EGL error 0x%04x", call, static_cast<unsigned>(eglGetError()));
}

// libepoxy ends the process where the library it needs is missing: ask first.
bool can_load(const char* library) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_GLOBAL);
  return handle != nullptr;  // stays loaded, as libepoxy is about to use it
}

}  // namespace

Result<Offscreen> Offscreen::open(int width, int height) {
  assert(width > 0 && height > 0);
  if (!can_load("libEGL.so.1")) return no_surface("no libEGL.so.1");
  if (!can_load("libGL.so.1") && !can_load("libOpenGL.so.0")) return no_surface("no libGL.so.1");

  Offscreen surface;
  surface.width_ = width, surface.height_ = height;
  if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_base") ||
      !epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless"))
    return no_surface("an EGL without EGL_MESA_platform_surfaceless");
  const EGLDisplay display = eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
  if (display == EGL_NO_DISPLAY) return no_surface(egl_failure("eglGetPlatformDisplay"));
  if (!eglInitialize(display, nullptr, nullptr)) return no_surface(egl_failure("eglInitialize"));
  surface.display_ = display;
  if (!eglBindAPI(EGL_OPENGL_API)) return no_surface(egl_failure("eglBindAPI"));

  const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (!eglChooseConfig(display, wanted, &config, 1, &count) || count == 0)
    return no_surface(egl_failure("eglChooseConfig"));
  const EGLint version[] = {
      EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
      EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
  const EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
  if (context == EGL_NO_CONTEXT) return no_surface(egl_failure("eglCreateContext"));
  surface.context_ = context;
  if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
    return no_surface(egl_failure("eglMakeCurrent"));

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

Offscreen::Offscreen(Offscreen&& other) noexcept
    : display_(std::exchange(other.display_, nullptr)),
      context_(std::exchange(other.context_, nullptr)),
      framebuffer_(std::exchange(other.framebuffer_, 0)),
      colour_(std::exchange(other.colour_, 0)),
      width_(other.width_),
      height_(other.height_) {}

// One display for the process; it stays initialised: Mesa unloads and reloads its
// driver, and leaks a little, each time it is ended.
Offscreen::~Offscreen() {
  if (!context_) return;
  if (framebuffer_) glDeleteFramebuffers(1, &framebuffer_);
  if (colour_) glDeleteRenderbuffers(1, &colour_);
  eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  eglDestroyContext(display_, context_);
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
