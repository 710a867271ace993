#include "gl/gui_context.h"

#include <epoxy/gl.h>

#include "gl/backends.h"

namespace headlight {

Result<std::unique_ptr<GuiContext>> GuiContext::open() {
  std::unique_ptr<GuiContext> gui{new GuiContext};
  if (const auto opened = gui->fonts_.open(); !opened) return opened.error();
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

}  // namespace headlight
