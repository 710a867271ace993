// A window that the benchmark draws without a display.
#pragma once

#include <epoxy/gl.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "base/seconds.h"
#include "gl/frame.h"
#include "gl/gui_context.h"
#include "gl/map_texture.h"
#include "gl/offscreen.h"
#include "gui/frame/kept_texts.h"
#include "gui/shell/shell.h"
#include "session/loop/startup.h"

namespace headlight {

inline constexpr int kDrawnWidth = 1600, kDrawnHeight = 1000;

/// Wakes the thread that waits for an answer.
class Bell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    changed_.notify_all();
  }
  void wait(double seconds) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return rung_; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
};

/// The target that every window of a benchmark is drawn on.
struct Stage {
  Offscreen surface;
  std::unique_ptr<GuiContext> context;
  Resources resources;

  void begin() { context->begin_frame({kDrawnWidth, kDrawnHeight}, 1.0f / 60, 1); }
  void end(Rgb background) {
    context->end_frame(background);
    glFinish();
  }
};

/// A window of its own on the stage, with its own textures.
struct DrawnWindow {
  KeptTexts texts;
  DrawnWindow(Stage& on, std::unique_ptr<MapPainter> painter, Document document)
      : maps(std::move(painter)),
        loop([this] { bell.ring(); }, {}),
        screen{.begin_frame = [&on] { on.begin(); },
               .end_frame = [&on](Rgb background) { on.end(background); },
               .fonts = on.context->fonts(),
               .maps = *maps,
               .samples = on.resources.samples,
               .texts = &texts} {
    Settings settings = default_settings();
    settings.greeted = true;
    state = initial_state(on.resources.lexicon, std::move(document), settings, {}, on.resources.shipped);
    loop.settle(state);
  }

  /// Seconds of our own part of a frame; the frame is on the screen when it returns.
  double frame() {
    Commands commands;
    const double begin = seconds_now();
    build_frame(screen, state, loop, commands);
    const double own = seconds_now() - begin;
    screen.end_frame(background_of(state.settings.theme));
    return own;
  }

  Bell bell;
  std::unique_ptr<MapPainter> maps;
  AppState state;
  Loop loop;
  Screen screen;
};

}  // namespace headlight
