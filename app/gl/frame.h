// One turn of a window: the frame that is built, what was done in it, and the frame that is shown.
#pragma once

#include <functional>

#include "gui/frame/gui.h"
#include "session/loop/loop.h"

namespace headlight {

/// Where frames are shown.
struct Screen {
  std::function<void()> begin_frame;   // ends with ImGui::NewFrame
  std::function<void(Rgb)> end_frame;  // renders it over this background and shows it
  Fonts& fonts;
  MapPainter& maps;
  const std::vector<Sample>& samples;
  float unit = 1;               // as Gui has it
  Motion* motion = nullptr;     // null: everything is drawn settled
  KeptTexts* texts = nullptr;   // as Gui has it
  DrawnBoxes* boxes = nullptr;  // of the last frame that was built; null: they are not asked for
};

/// Frames drawn after an event before the window sleeps: Dear ImGui needs a second to settle, a third for hovering.
inline constexpr int kFramesAfterEvent = 3;

/// Seconds that a frame waits for the answer to what was done in it, where the last one came as soon: most do, and are
/// seen frames earlier.
inline constexpr double kAnswerWithin = 0.01;

/// Seconds that the loop sleeps, if nothing happens, before the next frame; `frames` are due after the last event.
/// While an answer is computed frames are fewer: a software renderer would take the processor from the computation.
double sleep_before_frame(const Loop& loop, int frames, double now);

/// Builds the window; what is done in it is added to `commands`.
void build_frame(const Screen& screen, const AppState& state, const Loop& loop, Commands& commands);

/// Carries out `commands`, and what the answer to it brings where the last one came within so many seconds.
void step_and_wait(AppState& state, Loop& loop, Commands& commands, double now, double answer_within = kAnswerWithin);

/// Builds a frame and shows it. If the frame gives commands, they are carried out and the frame is built again; the
/// first is never shown. True where it gave any.
bool show_frame(const Screen& screen, AppState& state, Loop& loop, Commands& commands, double now,
                double answer_within = kAnswerWithin);

}  // namespace headlight
