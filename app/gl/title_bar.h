// The title bar that the desktop draws above the window.
#pragma once

struct GLFWwindow;

namespace headlight {

/// Dark beside a dark theme, where a desktop asks each program for that (Windows 10, version 2004, and later).
void darken_title_bar(GLFWwindow* window, bool dark);

}  // namespace headlight
