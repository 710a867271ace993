// The window on the desktop: GLFW, its input and its clipboard, with Dear ImGui in it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "figure/drawing/colour.h"
#include "gl/gui_context.h"
#include "view/settings.h"

namespace headlight {

/// One a process, on the main thread; only wake() may be called from others. While it lives, its OpenGL 3.3 core
/// context and its ImGui context are current; a MapPainter made on it must go first.
class Window {
 public:
  /// No larger than the screen. Without a display, or without OpenGL 3.3, an Error.
  static Result<std::unique_ptr<Window>> open(const std::string& title, const WindowSize& size);
  Window(const Window&) = delete;
  ~Window();

  GuiContext& gui();
  /// How large it is now; nothing while it is an icon.
  std::optional<WindowSize> size() const;

  /// The room that the screen leaves for windows, at a scale of 100 %; nothing where it is not known.
  static std::optional<WindowSize> screen();
  /// At a scale of 100 %, and no larger than the screen.
  void resize(const WindowSize& size);

  /// Sleeps until something happens, at most `seconds`; 0 looks without sleeping. True where the user or the desktop
  /// did something, so that a frame is due. What wake() announces is for the caller to find.
  bool wait(double seconds);
  /// Ends a wait(), from any thread.
  static void wake();
  bool should_close() const;
  /// Whether keys wait for a frame that has seen those before them (gl/key_order.h).
  bool holds_keys() const;

  /// Ends with ImGui::NewFrame; `zoom` multiplies content_scale().
  void begin_frame(float zoom = 1);
  /// Draws the frame and shows it, no sooner than the screen's next refresh.
  void end_frame(Rgb background);

  /// Paths of the files dropped since the last call.
  std::vector<std::string> take_dropped();
  void set_title(const std::string& title);
  /// The title bar's colours, where the desktop leaves them to the program.
  void set_theme(Theme theme);
  /// Pixels of ImGui's for one at 100 %, as the desktop has it set.
  float content_scale() const;

 private:
  struct State;
  explicit Window(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headlight
