#include "gl/surface.h"

#include <dlfcn.h>
#include <epoxy/egl.h>

#include "base/formatted.h"

namespace headlight {
namespace {

std::string egl_failure(const char* call) {
  return formatted("%s failing with EGL error 0x%04x", call, static_cast<unsigned>(eglGetError()));
}

// libepoxy ends the process where the library it needs is missing: ask first.
bool can_load(const char* library) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_GLOBAL);
  return handle != nullptr;  // stays loaded, as libepoxy is about to use it
}

}  // namespace

Error no_surface(std::string_view found) {
  return bad_input("offscreen", "OpenGL 3.3",
                   "EGL with Mesa's surfaceless platform (packages libegl1, libgl1, libgl1-mesa-dri)", found);
}

const char* opengl_of_window() { return "version 3.3 (package libgl1-mesa-dri)"; }

// One display for the process; it stays initialised: Mesa unloads and reloads its driver, and leaks a little, each time
// it is ended.
Result<Surface> open_surface() {
  if (!can_load("libEGL.so.1")) return no_surface("no libEGL.so.1");
  if (!can_load("libGL.so.1") && !can_load("libOpenGL.so.0")) return no_surface("no libGL.so.1");
  if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_base") ||
      !epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless"))
    return no_surface("an EGL without EGL_MESA_platform_surfaceless");
  const EGLDisplay display = eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
  if (display == EGL_NO_DISPLAY) return no_surface(egl_failure("eglGetPlatformDisplay"));
  if (!eglInitialize(display, nullptr, nullptr)) return no_surface(egl_failure("eglInitialize"));
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
  Surface surface(context, [display](EGLContext made) {
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display, made);
  });
  if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
    return no_surface(egl_failure("eglMakeCurrent"));
  return surface;
}

}  // namespace headlight
