#include "views/lesson/panel/lesson_panel.h"

#include <algorithm>
#include <cmath>

#include "figure/page.h"
#include "gui/actions/actions.h"
#include "gui/actions/look.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/looks.h"
#include "lesson/lesson.h"
#include "math/attention.h"
#include "session/lesson_commands.h"
#include "words/lesson_words.h"

namespace headlight {
namespace {

constexpr float kColumn = 336, kInset = 20, kMark = 26;  // the column; its edges; the tick before what is asked for

/// A ring until it is done, then a tick.
void draw_mark(Gui& gui, ImVec2 at, std::optional<bool> done) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float size = ImGui::GetFontSize(), unit = gui.unit;
  const bool dark = gui.state.settings.theme == Theme::dark;
  if (done == true) {
    const ImU32 green = dark ? IM_COL32(110, 201, 128, 255) : IM_COL32(30, 126, 52, 255);
    const ImVec2 points[] = {{at.x + 0.1f * size, at.y + 0.55f * size},
                             {at.x + 0.4f * size, at.y + 0.85f * size},
                             {at.x + 0.95f * size, at.y + 0.2f * size}};
    list.AddPolyline(points, 3, green, 0, 2.5f * unit);
  } else if (done) {
    list.AddCircle({at.x + size / 2, at.y + size / 2}, 0.36f * size, gui.colours().dim, 24, 1.5f * unit);
  } else {  // nothing that the window can check
    list.AddCircleFilled({at.x + size / 2, at.y + size / 2}, 0.16f * size, gui.colours().dim, 16);
  }
  gui.name_box(done == true ? "lesson done" : "lesson to do", {at.x, at.y, size, size});
}

/// Marks the target of a link: a control with a ring, a word's row or a cell in every head. A click on an action
/// performs it.
void point_at(Gui& gui, const std::string& target) {
  const LessonTarget to = target_of(target);
  if (const std::optional<Act> act = parse_act(to.action)) {
    if (ImGui::IsMouseClicked(0) && is_possible(gui, action(*act))) perform(gui, action(*act));
    return;
  }
  if (!to.control.empty()) return gui.push(PointAt{to.control});
  if (!to.text.empty()) return gui.push(PointAt{"text"});
  if (!gui.state.trace || to.query.empty()) return;
  const HeadRef& head = gui.state.view.chosen;
  const auto query = find_position(gui.state.trace->query_tokens(head.stack), {to.query});
  if (!query) return;
  auto key = to.key.empty() ? std::nullopt : find_position(gui.state.trace->key_tokens(head.stack), {to.key});
  if (!key) {
    const Matrix row = attention_rows(*gui.state.trace, head, *query, 1);
    Index strongest = 0;
    row.row(0).maxCoeff(&strongest);
    key = strongest;
  }
  gui.push(Hover{head, CellRef{*query, *key}});
}

/// The name and the keys of the action that a target names; the target itself where there is no such action.
std::string action_text(const Gui& gui, const std::string& target) {
  const std::optional<Act> act = parse_act(target_of(target).action);
  return act ? action_in_text(gui, *act) : target;
}

/// A text whose links can be pointed at; true while one is. It leaves the cursor below it.
bool linked_text(Gui& gui, const std::string& text, const char* name, float left, float width) {
  std::vector<LessonSpan> spans = spans_of(text);
  std::string plain, shown;
  std::vector<std::size_t> ends;
  for (LessonSpan& span : spans) {
    if (span.text.empty()) span.text = action_text(gui, span.target);
    plain += span.text;
    shown += gui.fonts.shown(span.text);
    ends.push_back(shown.size());
  }
  const Paragraph set = paragraph(gui, plain, width);
  const ImVec2 at{ImGui::GetWindowPos().x + left, ImGui::GetCursorScreenPos().y};
  gui.name_box(name, {at.x, at.y, width, set.height});
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float pitch = ImGui::GetFontSize() * kLineOfText;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  std::size_t from = 0;
  float y = at.y;
  bool any = false;
  for (const std::string& line : set.lines) {
    const std::size_t begin = std::min(shown.find(line, from), shown.size());
    from = begin + line.size();
    float x = at.x;
    for (std::size_t s = 0, first = begin; s < spans.size() && first < from; ++s) {
      if (ends[s] <= first) continue;
      const std::string part = shown.substr(first, std::min(ends[s], from) - first);
      const float part_width = ImGui::CalcTextSize(part.c_str()).x;
      const bool link = !spans[s].target.empty();
      list.AddText({x, y}, gui.colours().text, part.c_str());
      if (link) {
        const Box box{x, y, part_width, pitch};
        const bool hovered = ImGui::IsWindowHovered() && box.contains(mouse.x, mouse.y);
        const float under = std::round(y + ImGui::GetFontSize() + gui.unit);
        list.AddLine({x, under}, {x + part_width, under}, hovered ? gui.colours().text : gui.colours().dim,
                     (hovered ? 2 : 1) * gui.unit);
        gui.name_box("link " + spans[s].target, box);
        if (hovered) point_at(gui, spans[s].target);
        any = any || hovered;
      }
      x += part_width;
      first += part.size();
    }
    y += pitch;
  }
  ImGui::Dummy({0, set.height});
  return any;
}

/// The steps as numbered discs: those that were done are ticked, a click goes to one.
void step_discs(Gui& gui, const Lesson& lesson, float left) {
  const float unit = gui.unit, size = 26 * unit, gap = 6 * unit;
  const FontScope small(gui, TextSize::small);
  const ImVec2 corner{ImGui::GetWindowPos().x + left, ImGui::GetCursorScreenPos().y};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto columns = static_cast<std::size_t>((kColumn - 2 * kInset) * unit / (size + gap));
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    const ImVec2 at{corner.x + static_cast<float>(i % columns) * (size + gap),
                    corner.y + static_cast<float>(i / columns) * (size + gap)};
    const bool here = gui.state.view.lesson->step == i, done = was_done(gui.state, lesson, i);
    const std::string name = "lesson step " + std::to_string(i);
    ImGui::SetCursorScreenPos(at);
    if (ImGui::InvisibleButton(name.c_str(), {size, size})) gui.push(GoToStep{i});
    gui.name_item(name);
    const bool hovered = ImGui::IsItemHovered();
    const ImVec2 middle{at.x + size / 2, at.y + size / 2};
    if (here) list.AddCircleFilled(middle, size / 2, gui.colours().text, 32);
    else list.AddCircle(middle, size / 2 - unit / 2, hovered ? gui.colours().text : gui.colours().dim, 32, unit);
    const std::string label = done && !here ? "✓" : std::to_string(i + 1);
    const ImVec2 extent = ImGui::CalcTextSize(label.c_str());
    list.AddText({std::round(middle.x - extent.x / 2), std::round(middle.y - extent.y / 2)},
                 here ? gui.colours().background : gui.colours().dim, label.c_str());
  }
  ImGui::SetCursorScreenPos(
      {corner.x, corner.y + size * std::ceil(static_cast<float>(lesson.steps.size()) / static_cast<float>(columns))});
  ImGui::Dummy({0, 8 * unit});
}

/// Back, again, and on: the way on stands out once the step is done, or asks for nothing.
void page_buttons(Gui& gui, const Lesson& lesson, const LessonStep& step, float left) {
  const LessonPosition& position = *gui.state.view.lesson;
  const StepContent& content = step.in(gui.state.settings.language);
  const bool last = position.step + 1 == lesson.steps.size(),
             last_lesson = position.lesson + 1 == gui.state.lessons->size();
  const Words& next = last && !last_lesson ? kLessonWords.next_lesson : kLessonWords.next;
  const auto button = [&](const char* name, const Words& label, const std::string& tip, bool possible = true) {
    ImGui::BeginDisabled(!possible);
    const bool pressed = flat_button(gui, name, gui.word(label));
    ImGui::EndDisabled();
    explain_item(gui, tip);
    return pressed;
  };
  ImGui::SetCursorPosX(left);
  if (button("lesson back", kLessonWords.previous, with_keys(gui, kLessonWords.tip_previous, {Act::previous_page}),
             position.step > 0 || position.lesson > 0))
    turn_page(gui, true);
  ImGui::SameLine(0, 8 * gui.unit);
  const bool ready =
      content.goals.empty() || was_done(gui.state, lesson, position.step) || is_attempt_done(gui.state) == true;
  if (ready && !(last && last_lesson)) {
    if (primary_button(gui, "lesson next", gui.word(next))) turn_page(gui, false);
    explain_item(gui, with_keys(gui, kLessonWords.tip_next, {Act::next_page}));
  } else if (button("lesson next", next, with_keys(gui, kLessonWords.tip_next, {Act::next_page}),
                    !(last && last_lesson))) {
    turn_page(gui, false);
  }
  if (!content.scene) return;
  ImGui::SameLine(0, 8 * gui.unit);
  if (button("lesson again", kLessonWords.set_again, gui.word(kLessonWords.tip_set_again)))
    gui.push(GoToStep{position.step});
}

}  // namespace

float lesson_width(const Gui& gui) { return current_step(gui.state) ? kColumn * gui.unit : 0; }

void lesson_panel(Gui& gui) {
  const Lesson* lesson = current_lesson(gui.state);
  const LessonStep* step = current_step(gui.state);
  if (!lesson || !step) return;
  const Language language = gui.state.settings.language;
  const float unit = gui.unit, left = kInset * unit, width = ImGui::GetWindowWidth() - 2 * left;
  if (!gui.state.view.pointed.empty()) gui.push(PointAt{});  // it is set anew in every frame
  ImGui::SetCursorPos({left, 12 * unit});
  {
    const FontScope title(gui, TextSize::title);
    ImGui::PushTextWrapPos(left + width - 24 * unit);
    ImGui::TextUnformatted(gui.fonts.shown(lesson->title.in(language)).c_str());
    ImGui::PopTextWrapPos();
    gui.name_item("lesson title", BoxKind::label);
  }
  const float below = ImGui::GetCursorPosY();
  ImGui::SetCursorPos({left + width - 16 * unit, 10 * unit});
  if (flat_button(gui, "leave lesson", gui.word(kLessonWords.leave))) gui.push(OpenLesson{});
  explain_item(gui, gui.word(kLessonWords.tip_leave));
  ImGui::SetCursorPos({left, below + 4 * unit});
  step_discs(gui, *lesson, left);
  bool linked = linked_text(gui, step->text.in(language), "lesson text", left, width);
  ImGui::Dummy({0, 10 * unit});
  if (!step->attempt.empty()) {
    const std::optional<bool> done = is_attempt_done(gui.state);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    draw_mark(gui, {ImGui::GetWindowPos().x + left, at.y}, done);
    linked = linked_text(gui, gui.word(kLessonWords.attempt) + step->attempt.in(language), "lesson try",
                         left + kMark * unit, width - kMark * unit) ||
             linked;
    explain_item(gui, kLessonWords.tip_done);
    if (done == false && !step->points.empty() && !linked) gui.push(PointAt{step->points});
    ImGui::Dummy({0, 10 * unit});
  }
  page_buttons(gui, *lesson, *step, left);
}

float lesson_menu_width(Gui& gui) {
  return gui.state.lessons && !gui.state.lessons->empty() ? button_width(gui.word(kLessonWords.lessons)) : 0;
}

void lesson_menu(Gui& gui) {
  const AppState& state = gui.state;
  if (lesson_menu_width(gui) <= 0) return;
  const bool key = is_pressed(action(Act::choose_lesson).keys.front(), false) &&
                   state.browser.purpose == Browser::Purpose::none && !state.view.help && !state.view.palette;
  if (flat_button(gui, "lessons", gui.word(kLessonWords.lessons), state.view.lesson.has_value()) || key)
    ImGui::OpenPopup("lessons list");
  explain_item(gui, kLessonWords.tip_lessons, {Act::choose_lesson});
  const Box button = {ImGui::GetItemRectMin().x, ImGui::GetItemRectMin().y, 0, ImGui::GetItemRectSize().y};
  ImGui::SetNextWindowPos({button.x, button.bottom() + 4 * gui.unit}, ImGuiCond_Appearing);
  if (!begin_menu("lessons list")) return;
  for (std::size_t i = 0; i < state.lessons->size(); ++i) {
    const Lesson& lesson = (*state.lessons)[i];
    const LessonProgress progress = progress_of(state, lesson);
    const std::string done = progress.done == 0 ? ""
                             : progress.done == progress.all
                                 ? "   ✓"
                                 : "   " + std::to_string(progress.done) + "/" + std::to_string(progress.all);
    const std::string title = std::to_string(i + 1) + "  " + lesson.title.in(state.settings.language) + done;
    const bool here = state.view.lesson && state.view.lesson->lesson == i;
    const bool digit =
        i < 10 && !ImGui::IsWindowAppearing() && key_pressed(static_cast<Key>('0' + (i + 1) % 10), false);
    ImGui::PushID(static_cast<int>(i));
    if (plain_selectable(gui.fonts.shown(title), here) || digit) {
      gui.push(OpenLesson{i});
      ImGui::CloseCurrentPopup();
    }
    ImGui::PopID();
    gui.name_item("lesson " + std::to_string(i));
  }
  ImGui::EndPopup();
}

}  // namespace headlight
