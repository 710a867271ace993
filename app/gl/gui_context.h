// Dear ImGui on the current OpenGL context: what the window and a picture without a display have in common.
#pragma once

#include <imgui.h>

#include <memory>

#include "base/result.h"
#include "figure/drawing/colour.h"
#include "gui/frame/font.h"

namespace headlight {

class GuiContext {
 public:
  /// Needs a current OpenGL 3.3 context, which must outlive it. Makes its ImGui context the current one; nothing of
  /// ImGui's own is read from or written to disk. An Error comes from Fonts::open.
  static Result<std::unique_ptr<GuiContext>> open();
  GuiContext(const GuiContext&) = delete;
  ~GuiContext();

  Fonts& fonts() { return fonts_; }

  /// Fonts and textures, then ImGui::NewFrame. The platform has given ImGui size, time and input before.
  void begin_frame(float scale);
  /// The same without a platform: a display of `size` pixels, `seconds` after the frame before.
  void begin_frame(ImVec2 size, float seconds, float scale);
  /// ImGui::Render, then the background and the frame into the framebuffer that is bound.
  void end_frame(Rgb background);

 private:
  GuiContext() = default;
  Fonts fonts_;
  ImGuiContext* context_ = nullptr;
  bool rendering_ = false;
  [[maybe_unused]] bool began_ = false;
};

}  // namespace headlight
