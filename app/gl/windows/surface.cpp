#include "gl/surface.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

namespace headlight {
namespace {

std::string failure() {
  const char* description = nullptr;
  return glfwGetError(&description) != GLFW_NO_ERROR && description ? description : "none";
}

}  // namespace

Error no_surface(std::string_view found) { return bad_input("offscreen", "OpenGL", opengl_of_window(), found); }

const char* opengl_of_window() {
  return "version 3.3 (a driver of the graphics card, or opengl32.dll of Mesa beside headlight.exe)";
}

Result<Surface> open_surface() {
  if (!glfwInit()) return no_surface(failure());
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  GLFWwindow* const window = glfwCreateWindow(64, 64, "Headlight", nullptr, nullptr);
  const Surface surface(window, [](void*) { glfwTerminate(); });  // and destroys its windows
  if (!window) return no_surface(failure());
  glfwMakeContextCurrent(window);
  return surface;
}

}  // namespace headlight
