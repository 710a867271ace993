#include "session/lesson_commands.h"

#include <algorithm>

#include "session/state_rules.h"

namespace headlight {
namespace {

GoalFacts goal_facts(const AppState& state) {
  GoalFacts facts{.document = state.document, .view = state.view};
  if (state.trace && !is_stale(state)) facts.trace = state.trace.get();
  if (!shows_live(state)) return facts;
  facts.trained_steps = state.live->step;
  facts.shown_step = state.live->shown;
  return facts;
}

}  // namespace

const Lesson* current_lesson(const AppState& state) {
  const auto& position = state.view.lesson;
  if (!position || !state.lessons || position->lesson >= state.lessons->size()) return nullptr;
  return &(*state.lessons)[position->lesson];
}

const LessonStep* current_step(const AppState& state) {
  const Lesson* lesson = current_lesson(state);
  return lesson && state.view.lesson->step < lesson->steps.size() ? &lesson->steps[state.view.lesson->step] : nullptr;
}

LessonMark lesson_mark(const AppState& state) {
  const Lesson* lesson = current_lesson(state);
  return lesson ? LessonMark{lesson->name, lesson->path, state.view.lesson->step} : LessonMark{};
}

std::optional<bool> is_attempt_done(const AppState& state) {
  const LessonStep* step = current_step(state);
  if (!step) return std::nullopt;
  const StepContent& content = step->in(state.settings.language);
  if (content.goals.empty()) return std::nullopt;
  const GoalFacts facts = goal_facts(state);
  const Scene* scene = content.scene ? &*content.scene : nullptr;
  return std::ranges::all_of(content.goals, [&](const Goal& goal) { return is_reached(goal, facts, scene); });
}

bool was_done(const AppState& state, const Lesson& lesson, std::size_t step) {
  const auto known = state.settings.lessons_done.find(lesson.name);
  return known != state.settings.lessons_done.end() && (known->second >> step & 1) != 0;
}

LessonProgress progress_of(const AppState& state, const Lesson& lesson) {
  LessonProgress progress;
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    if (lesson.steps[i].in(state.settings.language).goals.empty()) continue;
    ++progress.all;
    if (was_done(state, lesson, i)) ++progress.done;
  }
  return progress;
}

void mark_done(AppState& state) {
  const Lesson* lesson = current_lesson(state);
  if (!lesson || was_done(state, *lesson, state.view.lesson->step) || is_attempt_done(state) != true) return;
  state.settings.lessons_done[lesson->name] |= std::uint64_t{1} << state.view.lesson->step;
}

std::optional<LessonPosition> position_of(const AppState& state, const LessonMark& mark) {
  if (!state.lessons) return std::nullopt;
  const auto& all = *state.lessons;
  auto at = std::ranges::find_if(all, [&](const Lesson& one) { return one.path == mark.path; });
  if (at == all.end()) at = std::ranges::find_if(all, [&](const Lesson& one) { return one.name == mark.name; });
  if (at == all.end()) return std::nullopt;
  return LessonPosition{static_cast<std::size_t>(at - all.begin()), std::min(mark.step, at->steps.size() - 1)};
}

Error lesson_is_gone(const LessonMark& mark) {
  return bad_input(mark.path.empty() ? mark.name : mark.path, "the lesson that was open", "a lesson's file",
                   "none that can be read", ErrorCode::lesson_gone);
}

void open_lesson(AppState& state, std::optional<std::size_t> lesson, CommandKind kind) {
  if (!lesson) {
    state.view.lesson.reset();
    return;
  }
  if (!state.lessons || *lesson >= state.lessons->size()) return;
  state.settings.greeted = true;
  state.view.lesson = LessonPosition{*lesson, 0};
  go_to_step(state, 0, kind);
}

void go_to_step(AppState& state, std::size_t number, CommandKind kind) {
  const Lesson* lesson = current_lesson(state);
  if (!lesson || number >= lesson->steps.size()) return;
  state.view.lesson->step = number;
  const auto& scene = lesson->steps[number].in(state.settings.language).scene;
  if (!scene) return;
  stop_generating(state);
  end_gesture(state);
  edited(state, kind) = scene->document;
  end_gesture(state);
  ViewState view = scene->view;
  view.lesson = state.view.lesson;
  view.sampling = state.view.sampling;
  state.view = std::move(view);
  ask_again(state);
  await_check(state, {});
  // The answer on the screen is another question's still: the look is fitted to the new one when it comes.
  if (is_stale(state)) state.opened_view = state.view;
  else state.opened_view.reset();
}

void take_settings(AppState& state, Settings settings, CommandKind kind) {
  const bool translated = state.settings.language != settings.language;
  state.settings = std::move(settings);
  if (const LessonStep* step = current_step(state); step && step->english && translated)
    go_to_step(state, state.view.lesson->step, kind);
}

std::size_t add_lesson(AppState& state, Lesson lesson) {
  const auto share = [&](StepContent& content) {
    if (content.scene) share_model(content.scene->document, state.shipped.get());
  };
  for (LessonStep& step : lesson.steps) {
    share(step);
    if (step.english) share(*step.english);
  }
  auto lessons = state.lessons ? *state.lessons : std::vector<Lesson>();
  const auto same = std::ranges::find_if(lessons, [&](const Lesson& one) { return one.path == lesson.path; });
  const auto index = static_cast<std::size_t>(same - lessons.begin());
  if (same == lessons.end()) lessons.push_back(std::move(lesson));
  else *same = std::move(lesson);
  state.lessons = std::make_shared<const std::vector<Lesson>>(std::move(lessons));
  return index;
}

void take_lesson(AppState& state, Lesson lesson, CommandKind kind) {
  open_lesson(state, add_lesson(state, std::move(lesson)), kind);
}

}  // namespace headlight
