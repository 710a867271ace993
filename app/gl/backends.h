// Dear ImGui's backends, wherever the installed package keeps their headers.
#pragma once

#if __has_include(<backends/imgui_impl_opengl3.h>)
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#else
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>
#endif
