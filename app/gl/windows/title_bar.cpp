#include "gl/title_bar.h"

#define GLFW_INCLUDE_NONE
#define GLFW_EXPOSE_NATIVE_WIN32
#include <GLFW/glfw3.h>
#include <GLFW/glfw3native.h>
#include <dwmapi.h>

namespace headlight {

void darken_title_bar(GLFWwindow* window, bool dark) {
  constexpr DWORD kImmersiveDarkMode = 20;  // DWMWA_USE_IMMERSIVE_DARK_MODE; systems before 2004 refuse it
  const BOOL value = dark;
  DwmSetWindowAttribute(glfwGetWin32Window(window), kImmersiveDarkMode, &value, sizeof(value));
}

}  // namespace headlight
