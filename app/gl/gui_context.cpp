#include "gl/gui_context.h"

#include <epoxy/gl.h>

#include <algorithm>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "gl/backends.h"

namespace headlight {

Result<std::unique_ptr<GuiContext>> GuiContext::open() {
  std::unique_ptr<GuiContext> gui{new GuiContext};
  TRY(gui->fonts_.open());
  IMGUI_CHECKVERSION();
  gui->context_ = ImGui::CreateContext();
  ImGui::SetCurrentContext(gui->context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.ConfigWindowsMoveFromTitleBarOnly = true;
  if (!ImGui_ImplOpenGL3_Init("#version 330 core")) {
    const auto* version = reinterpret_cast<const char*>(glGetString(GL_VERSION));  // null: the driver is broken
    return bad_input("window", "OpenGL", "version 3.3", version ? version : "none");
  }
  gui->rendering_ = true;
  return gui;
}

GuiContext::~GuiContext() {
  if (!context_) return;
  ImGui::SetCurrentContext(context_);
  if (rendering_) ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(context_);
}

void GuiContext::begin_frame(float scale) {
  [[maybe_unused]] const bool rebuilt = fonts_.prepare(scale);
  if (rebuilt && began_) {
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
  }
  began_ = true;  // the first NewFrame makes the texture by itself
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
}

void GuiContext::begin_frame(ImVec2 size, float seconds, float scale) {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = size;
  io.DeltaTime = seconds;
  begin_frame(scale);
}

void GuiContext::end_frame(Rgb background) {
  ImGui::Render();
  const ImDrawData& data = *ImGui::GetDrawData();
  const auto pixels = [](float size, float scale) { return static_cast<GLsizei>(size * scale); };
  glViewport(0, 0, pixels(data.DisplaySize.x, data.FramebufferScale.x),
             pixels(data.DisplaySize.y, data.FramebufferScale.y));
  glDisable(GL_SCISSOR_TEST);
  glClearColor(static_cast<float>(background.r) / 255, static_cast<float>(background.g) / 255,
               static_cast<float>(background.b) / 255, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

namespace {

bool is_modifier(int key) { return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER; }

}  // namespace

void KeyOrder::add(const KeyEvent& event, const Deliver& deliver) {
  const bool modifier = event.character == 0 && is_modifier(event.key);
  const bool release = event.character == 0 && event.action == GLFW_RELEASE;
  const bool after_keys = typed_ || std::ranges::any_of(fresh_, [](int key) { return !is_modifier(key); });
  const bool after_escape = fresh_.contains(GLFW_KEY_ESCAPE);
  const bool parts = modifier || (event.character == 0 && event.key == GLFW_KEY_ESCAPE);
  const bool early = release ? !fresh_.empty() : after_escape || (parts && after_keys);
  if (all_wait_ || early) {
    held_.push_back(event);
    all_wait_ = all_wait_ || modifier || !release;
    return;
  }
  if (event.character == 0 && event.action == GLFW_PRESS) fresh_.insert(event.key);
  typed_ = typed_ || event.character != 0;
  deliver(event);
}

bool KeyOrder::frame_ended(const Deliver& deliver) {
  fresh_.clear();
  typed_ = all_wait_ = false;
  const auto waited = std::exchange(held_, {});
  for (const KeyEvent& event : waited) add(event, deliver);
  return !waited.empty();
}

}  // namespace headlight
