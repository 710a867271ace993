#include "gl/window.h"

#include <epoxy/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>

#include "gl/backends.h"
#include "gl/surface.h"
#include "gl/title_bar.h"

namespace headlight {

struct Window::State {
  GLFWwindow* window = nullptr;
  bool initialised = false, platform = false;
  std::unique_ptr<GuiContext> gui;
  bool event = true;
  std::vector<std::string> dropped;
  std::string clipboard;  // what ImGui was last given of it
  KeyOrder keys;
  std::optional<Theme> theme;  // of the title bar

  ~State();
  void install_before_imgui();
  void install_after_imgui();
  void on_key(const KeyEvent& event);
  void deliver(const KeyEvent& event);

  static State& of(GLFWwindow* window) { return *static_cast<State*>(glfwGetWindowUserPointer(window)); }
  std::string from_clipboard() const {
    const char* text = glfwGetClipboardString(window);
    return text ? gui->fonts().shown(text) : std::string{};
  }
};

namespace {

Error glfw_error(std::string_view what, std::string_view expected) {
  const char* description = nullptr;
  const int code = glfwGetError(&description);
  return bad_input("window", what, expected, code != GLFW_NO_ERROR && description ? description : "none");
}

/// The factor of glfwCreateWindow for a size (GLFW_SCALE_TO_MONITOR): not where the desktop counts in points.
float size_scale(GLFWwindow* window) {
  float scale = 1;
  int points = 0, pixels = 0;
  glfwGetWindowContentScale(window, &scale, nullptr);
  glfwGetWindowSize(window, &points, nullptr);
  glfwGetFramebufferSize(window, &pixels, nullptr);
  return points == pixels && scale > 0 ? scale : 1;
}

/// A size remembered from a larger screen.
WindowSize on_screen(WindowSize size) {
  const auto screen = Window::screen();
  if (!screen) return size;
  size.width = std::max(kLeastWindow.width, std::min(size.width, screen->width));
  size.height = std::max(kLeastWindow.height, std::min(size.height, screen->height));
  return size;
}

}  // namespace

Window::State::~State() {
  if (platform) ImGui_ImplGlfw_Shutdown();
  gui.reset();
  if (window) glfwDestroyWindow(window);
  if (initialised) glfwTerminate();
}

// ImGui's backend calls what was installed before it.
void Window::State::install_before_imgui() {
  glfwSetWindowUserPointer(window, this);
  glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int, int, int) { of(w).event = true; });
  glfwSetCursorPosCallback(window, [](GLFWwindow* w, double, double) { of(w).event = true; });
  glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int) { of(w).event = true; });
  glfwSetScrollCallback(window, [](GLFWwindow* w, double, double) { of(w).event = true; });
  glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int) { of(w).event = true; });
  glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { of(w).event = true; });
  glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { of(w).event = true; });
  glfwSetWindowContentScaleCallback(window, [](GLFWwindow* w, float, float) { of(w).event = true; });
  glfwSetWindowCloseCallback(window, [](GLFWwindow* w) { of(w).event = true; });
  glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
    of(w).event = true;
    of(w).dropped.insert(of(w).dropped.end(), paths, paths + count);
  });
}

void Window::State::install_after_imgui() {
  // Instead of ImGui's callback, which drops characters above U+FFFF.
  glfwSetCharCallback(window, [](GLFWwindow* w, unsigned code_point) { of(w).on_key({.character = code_point}); });
  glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int scancode, int action, int mods) {
    of(w).on_key({.key = key, .scancode = scancode, .action = action, .mods = mods});
  });
  ImGuiIO& io = ImGui::GetIO();
  io.ClipboardUserData = this;
  io.GetClipboardTextFn = [](void* user) {
    auto& state = *static_cast<State*>(user);
    return (state.clipboard = state.from_clipboard()).c_str();
  };
  io.SetClipboardTextFn = [](void* user, const char* text) {
    auto& state = *static_cast<State*>(user);
    glfwSetClipboardString(state.window, state.gui->fonts().typed(text).c_str());
  };
}

void Window::State::deliver(const KeyEvent& of_key) {
  if (of_key.character) gui->fonts().input(of_key.character);
  else ImGui_ImplGlfw_KeyCallback(window, of_key.key, of_key.scancode, of_key.action, of_key.mods);
}

void Window::State::on_key(const KeyEvent& of_key) {
  event = true;
#if IMGUI_VERSION_NUM < 18700
  keys.add(of_key, [this](const KeyEvent& next) { deliver(next); });
#else
  deliver(of_key);
#endif
}

Window::Window(std::unique_ptr<State> state) : state_(std::move(state)) {}
Window::~Window() = default;

Result<std::unique_ptr<Window>> Window::open(const std::string& title, const WindowSize& size) {
  auto state = std::make_unique<State>();
  if (!glfwInit()) return glfw_error("display", "an X11 or Wayland display");
  state->initialised = true;
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "headlight");
  glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "headlight");
  glfwWindowHint(GLFW_MAXIMIZED, size.maximised ? GLFW_TRUE : GLFW_FALSE);
  const WindowSize fitting = on_screen(size);
  state->window = glfwCreateWindow(fitting.width, fitting.height, title.c_str(), nullptr, nullptr);
  if (!state->window) return glfw_error("OpenGL", opengl_of_window());
  glfwSetWindowSizeLimits(state->window, kLeastWindow.width, kLeastWindow.height, GLFW_DONT_CARE, GLFW_DONT_CARE);
  glfwMakeContextCurrent(state->window);
  glfwSwapInterval(1);

  state->gui = TRY(GuiContext::open());
  state->install_before_imgui();
  state->platform = ImGui_ImplGlfw_InitForOpenGL(state->window, true);
  state->install_after_imgui();
  return std::unique_ptr<Window>(new Window(std::move(state)));
}

GuiContext& Window::gui() { return *state_->gui; }

std::optional<WindowSize> Window::size() const {
  if (glfwGetWindowAttrib(state_->window, GLFW_ICONIFIED)) return std::nullopt;
  WindowSize size;
  const float scale = size_scale(state_->window);
  glfwGetWindowSize(state_->window, &size.width, &size.height);
  size.width = static_cast<int>(std::lround(static_cast<float>(size.width) / scale));
  size.height = static_cast<int>(std::lround(static_cast<float>(size.height) / scale));
  size.maximised = glfwGetWindowAttrib(state_->window, GLFW_MAXIMIZED) == GLFW_TRUE;
  return size;
}

std::optional<WindowSize> Window::screen() {
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  if (!monitor) return std::nullopt;
  int width = 0, height = 0;
  float scale = 1;
  glfwGetMonitorWorkarea(monitor, nullptr, nullptr, &width, &height);
  glfwGetMonitorContentScale(monitor, &scale, nullptr);
  if (width <= 0 || height <= 0 || scale <= 0) return std::nullopt;
  const auto at_full_scale = [scale](int pixels) { return static_cast<int>(static_cast<float>(pixels) / scale); };
  return WindowSize{at_full_scale(width), at_full_scale(height)};
}

void Window::resize(const WindowSize& size) {
  const WindowSize fitting = on_screen(size);
  const float scale = size_scale(state_->window);
  const auto pixels = [scale](int length) { return static_cast<int>(std::lround(static_cast<float>(length) * scale)); };
  glfwSetWindowSize(state_->window, pixels(fitting.width), pixels(fitting.height));
}

bool Window::wait(double seconds) {
  if (seconds > 0 && !state_->event) glfwWaitEventsTimeout(seconds);
  else glfwPollEvents();
  return std::exchange(state_->event, false);
}

void Window::wake() { glfwPostEmptyEvent(); }
bool Window::should_close() const { return glfwWindowShouldClose(state_->window); }
bool Window::holds_keys() const { return state_->keys.waits(); }

void Window::begin_frame(float zoom) {
  ImGui_ImplGlfw_NewFrame();
  state_->gui->begin_frame(content_scale() * zoom);
}

void Window::end_frame(Rgb background) {
  state_->gui->end_frame(background);
  glfwSwapBuffers(state_->window);
  if (state_->keys.frame_ended([this](const KeyEvent& next) { state_->deliver(next); })) state_->event = true;
}

std::vector<std::string> Window::take_dropped() { return std::exchange(state_->dropped, {}); }
void Window::set_title(const std::string& title) { glfwSetWindowTitle(state_->window, title.c_str()); }
void Window::set_theme(Theme theme) {
  if (std::exchange(state_->theme, theme) != theme) darken_title_bar(state_->window, theme == Theme::dark);
}

float Window::content_scale() const {
  float scale = 1;
  int points = 0, pixels = 0;
  glfwGetWindowContentScale(state_->window, &scale, nullptr);
  glfwGetWindowSize(state_->window, &points, nullptr);
  glfwGetFramebufferSize(state_->window, &pixels, nullptr);
  // Where the desktop counts in points (Wayland, macOS), they are already scaled.
  if (points > 0 && pixels > points) scale *= static_cast<float>(points) / static_cast<float>(pixels);
  return std::clamp(scale, 0.5f, 4.f);
}

}  // namespace headlight
