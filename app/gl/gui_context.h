// Dear ImGui on the current OpenGL context: what the window and a picture without a display have in common.
#pragma once

#include <imgui.h>

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "base/result.h"
#include "figure/drawing/colour.h"
#include "gui/theme/font.h"

namespace headlight {

class GuiContext {
 public:
  /// Needs a current OpenGL 3.3 context, which must outlive it. Makes its ImGui context the current one; ImGui reads
  /// and writes no settings file. An Error comes from Fonts::open.
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

/// A key as GLFW reports it, or a character that was typed.
struct KeyEvent {
  int key = 0, scancode = 0, action = 0, mods = 0;
  unsigned character = 0;  // 0: a key

  friend bool operator==(const KeyEvent&, const KeyEvent&) = default;
};

/// Keys and characters in the order in which they came, for a Dear ImGui that sees only which keys are down when a
/// frame begins (before 1.87): however many come between two frames, none is lost and none meets a Ctrl it was not
/// typed with.
class KeyOrder {
 public:
  using Deliver = std::function<void(const KeyEvent&)>;

  /// Delivers an event now, or when a frame has seen those before it: the release of a key that no frame has seen down;
  /// Ctrl and its like where keys before them were not seen, and all that follows theirs; Escape likewise, and all that
  /// follows it, since a text box forgets the characters of the frame in which Escape leaves it.
  void add(const KeyEvent& event, const Deliver& deliver);

  /// A frame has seen all that was delivered; what waited is. True where anything did: another frame is owed.
  bool frame_ended(const Deliver& deliver);
  /// Whether any waits for the end of a frame.
  bool waits() const { return !held_.empty(); }

 private:
  std::set<int> fresh_;  // keys that went down since the last frame
  std::vector<KeyEvent> held_;
  bool typed_ = false;  // characters came since the last frame: an input method's have no keys
  bool all_wait_ = false;
};

}  // namespace headlight
