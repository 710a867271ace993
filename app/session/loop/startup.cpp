#include "session/loop/startup.h"

#include "assets/assets.h"
#include "base/file.h"
#include "base/formatted.h"
#include "question/tokenizers.h"
#include "session/file/open_file.h"
#include "session/lesson_commands.h"
#include "session/update.h"

namespace headlight {
namespace {

/// By its whole path, so that a window that is opened elsewhere finds it again.
Status open_lesson_file(AppState& state, const std::filesystem::path& file) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(file, error);
  const std::filesystem::path path = error ? file : absolute.lexically_normal();
  auto lesson = TRY(read_lesson(file, state.shipped.get()));
  lesson.path = path.string();
  FileOpened opened{path.string(), {}};
  opened.opened.kind = OpenFile::Kind::lesson;
  opened.opened.lesson = std::make_shared<const Lesson>(std::move(lesson));
  update(state, std::move(opened));
  return Done{};
}

}  // namespace

Result<Resources> read_resources() {
  const auto folder = TRY(asset_folder());
  auto lexicon = TRY(read_lexicon());
  const auto& samples = read_samples();
  if (!samples) return samples.error();
  auto shipped = TRY(read_shipped_models());
  Lessons lessons = read_lessons({folder / "assets" / "lessons", lessons_folder()}, shipped.get());
  return Resources{std::move(lexicon), *samples, std::move(shipped), std::move(lessons)};
}

Status begin_lessons(AppState& state, const Lessons& lessons, const Startup& start) {
  state.lessons = std::make_shared<const std::vector<Lesson>>(lessons.lessons);
  if (start.lesson.empty()) return Done{};
  if (const auto index = find_lesson(*state.lessons, start.lesson)) {
    update(state, OpenLesson{*index});
  } else if (start.lesson.ends_with(".json")) {
    TRY(open_lesson_file(state, start.lesson));
  } else {
    const std::string names = joined_texts(*state.lessons, ", ", &Lesson::name);
    return bad_input("--lesson", "", "a .json file or one of " + names, start.lesson);
  }
  const std::size_t steps = (*state.lessons)[state.view.lesson->lesson].steps.size();
  if (start.step >= steps)
    return bad_input("--step", "", "1 to " + std::to_string(steps), std::to_string(start.step + 1));
  if (start.step > 0) update(state, GoToStep{start.step});
  return Done{};
}

void take_layout(AppState& state, const Layout& layout) {
  static_cast<Layout&>(state.view) = layout;
  if (state.view.view == View::compare && !state.kept) state.view.view = View::heads;
}

void take_up(AppState& state, const Settings& settings) {
  take_layout(state, settings.layout);
  if (settings.lesson.name.empty()) return;
  if (!position_of(state, settings.lesson)) {  // a file outside the lessons' folders
    const Status opened = open_lesson_file(state, settings.lesson.path);
    state.notice.reset();
    if (!opened) {
      state.notice = notice_of(lesson_is_gone(settings.lesson));
      return;
    }
  }
  const auto position = *position_of(state, settings.lesson);
  update(state, OpenLesson{position.lesson});
  if (position.step > 0) update(state, GoToStep{position.step});
}

void begin_looking(AppState& state, bool own_head) {
  const ViewState& view = state.view;
  if (view.lesson) return;
  if (!own_head && view.chosen == HeadRef{} && !view.pinned && !state.opened_view) update(state, ChooseStart{});
  if (!state.settings.greeted) update(state, FocusText{true});
}

void show_view(AppState& state, View view) {
  state.view.view = View::heads;
  update(state, ShowView{view});
}

Settings read_settings() {
  const auto text = read_file(settings_path(), std::size_t{1} << 20);
  return text ? settings_from_json(*text) : default_settings();
}

}  // namespace headlight
