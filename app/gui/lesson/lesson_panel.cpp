#include "gui/lesson/lesson_panel.h"

#include <algorithm>

#include "gui/actions/actions.h"
#include "gui/actions/look.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/paragraph.h"
#include "session/lesson_commands.h"
#include "words/lesson_words.h"

namespace headlight {
namespace {

/// Where the strip has its parts: what is said at the left, what is asked for beside it where there is room.
struct Places {
  float margin, head, text_width, try_x, try_y, try_width, height;
  TextSize size;
  Paragraph text, attempt;
};

constexpr float kMark = 26;  // of the tick, before what is asked for

Places places_of(Gui& gui, const LessonStep& step, float width) {
  const Language language = gui.state.settings.language;
  const float unit = gui.unit;
  Places places{};
  places.margin = 12 * unit;
  places.head = ImGui::GetFrameHeight() + 6 * unit;
  const float room = width - 2 * places.margin;
  const float mark = step.attempt.empty() ? 0 : kMark * unit;
  // Where everything is large in a small window the maps need the room more.
  const bool wide = room >= 840 * unit, beside = wide && !step.attempt.empty();
  places.size = wide ? TextSize::body : TextSize::small;
  const FontScope font(gui, places.size);
  places.text_width = beside ? std::min(room * 0.58f, 860 * unit) : std::min(room, 1000 * unit);
  const float left = beside ? places.text_width + 36 * unit : 0;
  places.try_x = places.margin + left + mark;
  places.try_width = std::min(room - left - mark, 560 * unit);
  places.text = paragraph(gui, step.text.in(language), places.text_width);
  if (!step.attempt.empty())
    places.attempt = paragraph(gui, gui.word(kLessonWords.attempt) + step.attempt.in(language), places.try_width);
  places.try_y = places.head + (beside || step.attempt.empty() ? 0 : places.text.height + 4 * unit);
  places.height = std::max(places.head + places.text.height, places.try_y + places.attempt.height) + 10 * unit;
  return places;
}

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
  } else {  // nothing that the window could tell
    list.AddCircleFilled({at.x + size / 2, at.y + size / 2}, 0.16f * size, gui.colours().dim, 16);
  }
  gui.name_box(done == true ? "lesson done" : "lesson to do", {at.x, at.y, size, size});
}

std::string step_words(const Gui& gui, std::size_t step, std::size_t count) {
  const std::string now = std::to_string(step + 1), all = std::to_string(count);
  return std::string(gui.word(kLessonWords.step)) + " " + now + " " + gui.word(kLessonWords.of_steps) + " " + all +
         " " + gui.word(kLessonWords.after_steps);
}

/// The way on, at the right end of the strip's first line.
void page_buttons(Gui& gui, const Lesson& lesson, const LessonStep& step) {
  const LessonPosition& place = *gui.state.view.lesson;
  const bool last = place.step + 1 == lesson.steps.size(), last_lesson = place.lesson + 1 == gui.state.lessons->size();
  const char* next = gui.word(last && !last_lesson ? kLessonWords.next_lesson : kLessonWords.next);
  float width =
      button_width(gui.word(kLessonWords.previous)) + button_width(next) + button_width(gui.word(kLessonWords.leave));
  if (step.scene) width += button_width(gui.word(kLessonWords.set_again));
  ImGui::SameLine(std::max(ImGui::GetCursorPosX(), ImGui::GetWindowWidth() - width - 8 * gui.unit));
  const auto button = [&](const char* name, const Words& label, const std::string& tip, bool possible = true) {
    ImGui::BeginDisabled(!possible);
    const bool pressed = flat_button(gui, name, gui.word(label));
    ImGui::EndDisabled();
    explain_item(gui, tip);
    ImGui::SameLine(0, 0);
    return pressed;
  };
  if (step.scene && button("lesson again", kLessonWords.set_again, gui.word(kLessonWords.tip_set_again)))
    gui.say(GoToStep{place.step});
  if (button("lesson back", kLessonWords.previous, with_keys(gui, kLessonWords.tip_previous, {Act::previous_page}),
             place.step > 0 || place.lesson > 0))
    turn_page(gui, true);
  if (button("lesson next", last && !last_lesson ? kLessonWords.next_lesson : kLessonWords.next,
             with_keys(gui, kLessonWords.tip_next, {Act::next_page}), !(last && last_lesson)))
    turn_page(gui, false);
  if (button("leave lesson", kLessonWords.leave, gui.word(kLessonWords.tip_leave))) gui.say(OpenLesson{});
}

}  // namespace

float lesson_height(Gui& gui, float width) {
  const LessonStep* step = current_step(gui.state);
  return step ? places_of(gui, *step, width).height : 0;
}

void lesson_panel(Gui& gui) {
  const Lesson* lesson = current_lesson(gui.state);
  const LessonStep* step = current_step(gui.state);
  if (!lesson || !step) return;
  const Places places = places_of(gui, *step, ImGui::GetWindowWidth());
  const ImVec2 corner = ImGui::GetWindowPos();
  ImGui::SetCursorPos({places.margin, 3 * gui.unit});
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().accent);
  ImGui::TextUnformatted(gui.fonts.shown(lesson->title.in(gui.state.settings.language)).c_str());
  ImGui::PopStyleColor();
  gui.name_item("lesson title");
  ImGui::SameLine(0, 12 * gui.unit);
  ImGui::PushStyleColor(ImGuiCol_Text, gui.colours().dim);
  ImGui::TextUnformatted(step_words(gui, gui.state.view.lesson->step, lesson->steps.size()).c_str());
  ImGui::PopStyleColor();
  page_buttons(gui, *lesson, *step);

  const FontScope font(gui, places.size);
  draw_paragraph(gui, places.text, {corner.x + places.margin, corner.y + places.head}, gui.colours().text,
                 "lesson text", places.text_width);
  if (step->attempt.empty()) return;
  const ImVec2 at{corner.x + places.try_x, corner.y + places.try_y};
  draw_mark(gui, {at.x - kMark * gui.unit, at.y}, is_attempt_done(gui.state));
  draw_paragraph(gui, places.attempt, at, gui.colours().text, "lesson try", places.try_width);
  ImGui::SetCursorScreenPos({at.x - kMark * gui.unit, at.y});
  ImGui::Dummy({places.try_width + kMark * gui.unit, places.attempt.height});
  explain_item(gui, kLessonWords.tip_done);
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
  if (!ImGui::BeginPopup("lessons list")) return;
  if (key_pressed(Key::escape, false)) ImGui::CloseCurrentPopup();
  for (std::size_t i = 0; i < state.lessons->size(); ++i) {
    const Lesson& lesson = (*state.lessons)[i];
    const std::string title = std::to_string(i + 1) + "  " + lesson.title.in(state.settings.language);
    const bool here = state.view.lesson && state.view.lesson->lesson == i;
    const bool digit =
        i < 10 && !ImGui::IsWindowAppearing() && key_pressed(static_cast<Key>('0' + (i + 1) % 10), false);
    ImGui::PushID(static_cast<int>(i));
    if (plain_selectable(gui.fonts.shown(title), here) || digit) {
      gui.say(OpenLesson{i});
      ImGui::CloseCurrentPopup();
    }
    ImGui::PopID();
    gui.name_item("lesson " + std::to_string(i));
  }
  ImGui::EndPopup();
}

}  // namespace headlight
