#include "gl/frame.h"

#include <algorithm>

#include "gui/frame/map_view.h"
#include "gui/shell/shell.h"

namespace headlight {
namespace {

WorkStatus work_of(const Loop& loop) {
  return {loop.computing(),      loop.writing(), loop.computing_progress(), loop.writing_progress(), loop.sweeping(),
          loop.sweep_progress(), loop.reading(), loop.reading_progress()};
}

constexpr double kSleep = 10;  // seconds, at most; everything that matters wakes the window
constexpr double kUnhurried = 0.03;

/// Whether commands change what is seen: hovering is reported in every frame, mostly unchanged.
bool change_something(const AppState& state, const Commands& commands) {
  std::optional<HeadRef> head = state.view.hovered_head;
  std::optional<CellRef> cell = state.view.hovered;
  for (const Command& command : commands) {
    const auto* hover = command.as<Hover>();
    if (!hover) return true;
    head = hover->head;
    cell = hover->cell;
  }
  return head != state.view.hovered_head || cell != state.view.hovered;
}

}  // namespace

double sleep_before_frame(const Loop& loop, int frames, double now) {
  if (frames > 0) return loop.computing() ? kUnhurried : 0;
  return std::min(kSleep, loop.next_due(now));
}

void build_frame(const Screen& screen, const AppState& state, const Loop& loop, Commands& commands) {
  apply_style(state.settings.theme, screen.unit);
  screen.fonts.use_latin_signs(state.settings.language == Language::en);
  screen.begin_frame();
  if (screen.boxes) screen.boxes->clear();
  Gui gui{state,       commands, screen.fonts, screen.maps,   screen.samples, work_of(loop),
          screen.unit, nullptr,  screen.boxes, screen.motion, screen.texts};
  begin_motion(gui);
  draw_window(gui);
}

void step_and_wait(AppState& state, Loop& loop, Commands& commands, double now, double answer_within) {
  loop.step(state, commands, now);
  if (!loop.computing() || state.trace.milliseconds > 1000 * answer_within) return;
  loop.wait_for_answer(answer_within);
  loop.step(state, commands, now);
}

bool show_frame(const Screen& screen, AppState& state, Loop& loop, Commands& commands, double now,
                double answer_within) {
  build_frame(screen, state, loop, commands);
  const bool changed = change_something(state, commands);
  if (changed) {
    ImGui::EndFrame();
    step_and_wait(state, loop, commands, now, answer_within);
    build_frame(screen, state, loop, commands);
  }
  screen.end_frame(background_of(state.settings.theme));
  return changed;
}

}  // namespace headlight
