#include "gl/app.h"
#include "base/folders.h"
#include "gui/shell/shell.h"

#include <stdlib.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <future>

#include <nlohmann/json.hpp>

#include "assets/assets.h"
#include "base/file.h"
#include "base/seconds.h"
#include "base/system.h"
#include "gl/frame.h"
#include "gl/map_texture.h"
#include "gl/offscreen.h"
#include "gl/quit_signals.h"
#include "gl/window.h"
#include "gui/frame/kept_texts.h"
#include "gui/frame/motion.h"
#include "model/head_text.h"
#include "paper/figure_file.h"
#include "question/answer_snapshot.h"
#include "read/picture/picture_file.h"
#include "session/loop/loop.h"
#include "session/loop/recovery.h"
#include "session/loop/startup.h"
#include "session/opening.h"
#include "session/state_rules.h"
#include "session/tool_state.h"
#include "view/settings.h"

namespace headlight {
namespace {

const double kBegin = seconds_now();  // the loader has the program and its libraries in memory

/// Prints how long the start took so far, where that is wanted.
void mark(const Startup& start, const char* what) {
  if (start.timings) std::fprintf(stderr, "%7.1f ms  %s\n", 1000 * (seconds_now() - kBegin), what);
}

/// Restores the unsaved session of an earlier window.
void restore(Startup& start, std::optional<Notice>& notice, const std::filesystem::path& autosave) {
  Recovered recovered = recover_session(autosave);
  if (!recovered.problems.empty()) notice = notice_of(recovered.problems);
  if (!recovered.session) return;
  start.session = *std::move(recovered.session);
  notice = Notice{Notice::Kind::restored, recovered.problems.empty() ? "" : "\n" + notice->text};
}

/// For a first start: the theme is the desktop's; on a large screen everything is larger, the window too.
void suit_desktop(Settings& settings, Window& window) {
  if (system_prefers_dark()) settings.theme = Theme::dark;
  const auto screen = Window::screen();
  if (!screen) return;
  settings.ui_scale = fitting_ui_scale(static_cast<float>(screen->width), static_cast<float>(screen->height));
  if (settings.ui_scale <= 1) return;
  const auto larger = [&](int length) { return static_cast<int>(static_cast<float>(length) * settings.ui_scale); };
  window.resize({larger(settings.window.width), larger(settings.window.height)});
}

/// The next window is as large as this one.
void follow_size(const AppState& state, const Window& window, Commands& commands) {
  Settings settings = state.settings;
  if (const auto size = window.size()) settings.window = remembered(settings.window, *size);
  if (!(settings == state.settings)) commands.emplace_back(SetSettings{std::move(settings)});
}

/// Restores the parts of a session beside its document and its view; a line for each part that is missing now.
void take_beside(AppState& state, Session& session, std::optional<Notice>& notice) {
  const std::vector<Error> lost = take_kept_and_lesson(state, session);
  if (lost.empty()) return;
  if (notice) notice->text += " " + notice_of(lost).text;
  else notice = notice_of(lost);
}

/// Files are drawn as figures, or by the tool whose files they are.
DrawFigure drawer_with(std::span<const Tool* const> all) {
  DrawFigure draws = figure_drawer();
  for (const Tool* tool : all)
    if (tool->state && tool->state->draws) draws = tool->state->draws(std::move(draws));
  return draws;
}
PreviewFigure previewer_with(std::span<const Tool* const> all) {
  PreviewFigure previews = figure_previewer();
  for (const Tool* tool : all)
    if (tool->state && tool->state->previews) previews = tool->state->previews(std::move(previews));
  return previews;
}

/// The boxes of a screenshot as JSON, in pixels, rounded to a tenth.
std::string boxes_json(const DrawnBoxes& boxes, int width, int height) {
  using nlohmann::json;
  const auto pixels = [](float length) { return std::round(static_cast<double>(length) * 10) / 10; };
  json list = json::array();
  for (const DrawnBox& drawn : boxes) {
    json one{{"name", drawn.name}, {"kind", box_kind_name(drawn.kind)}};
    if (drawn.head) one["head"] = head_text({drawn.head->layer, drawn.head->head});
    if (drawn.cell) one["query"] = drawn.cell->query, one["key"] = drawn.cell->key;
    one["box"] = {pixels(drawn.box.x), pixels(drawn.box.y), pixels(drawn.box.w), pixels(drawn.box.h)};
    list.push_back(std::move(one));
  }
  return json{{"window", {width, height}}, {"boxes", std::move(list)}}.dump(1, ' ', false,
                                                                            json::error_handler_t::replace) +
         "\n";
}

std::string window_title(const AppState& state) {
  if (state.session_path.empty()) return "Headlight";
  return std::filesystem::path(state.session_path).filename().string() + " — Headlight";
}

std::atomic<bool> frames_go_on = false;

/// Xlib calls exit() where the display is lost, while threads still use what that would tear down.
void leave_at_once() {
  if (frames_go_on) std::_Exit(EXIT_FAILURE);
}

/// Frames and sleep, until the state asks for the end.
void run_window(Window& window, QuitSignals& signals, Screen& screen, AppState& state, Loop& loop, Commands commands,
                const Startup& asked) {
  std::atexit(leave_at_once);  // before all that was registered earlier
  frames_go_on = true;
  bool is_shown = false, is_answered = false;
  int frames = kFramesAfterEvent, ending = 0;  // frames until the end that was asked for
  std::string title;
  while (!state.quit) {
    // What the last frame asked for (the end, too) does not wait for an event.
    if (window.wait(commands.empty() ? sleep_before_frame(loop, frames, seconds_now()) : 0)) {
      frames = kFramesAfterEvent;
      follow_size(state, window, commands);
    }
    for (auto& path : window.take_dropped()) commands.emplace_back(OpenPath{std::move(path)});
    // Keys that came before are seen first.
    if (ending == 0 && (window.should_close() || signals.take())) frames = ending = kFramesAfterEvent;
    if (loop.step(state, commands, seconds_now())) frames = kFramesAfterEvent;
    if (frames <= 0 && !loop.computing() && !loop.writing() && !loop.sweeping() && !loop.reading()) continue;
    frames = std::max(0, frames - 1);

    if (title != window_title(state)) window.set_title(title = window_title(state));
    window.set_theme(state.settings.theme);
    screen.unit = window.content_scale() * state.settings.ui_scale;
    const bool changed = show_frame(screen, state, loop, commands, seconds_now());
    if (!std::exchange(is_shown, true)) mark(asked, "first frame");
    if (state.trace && !std::exchange(is_answered, true)) mark(asked, "first answer on the screen");
    if (changed || screen.fonts.wants_frame() || screen.motion->is_moving()) frames = kFramesAfterEvent;
    if (ending > 0 && !window.holds_keys() && --ending == 0) commands.emplace_back(Quit{});
  }
  frames_go_on = false;
}

/// The look of a picture without a window.
Settings picture_settings(const ScreenshotOptions& options) {
  Settings settings = default_settings();
  settings.theme = options.theme.value_or(settings.theme);
  settings.language = options.language.value_or(settings.language);
  settings.ui_scale = options.ui_scale.value_or(
      fitting_ui_scale(static_cast<float>(options.width), static_cast<float>(options.height)));
  // No window is smaller than kLeastWindow; a picture is that window, drawn smaller.
  settings.ui_scale *= std::min({1.0f, static_cast<float>(options.width) / static_cast<float>(kLeastWindow.width),
                                 static_cast<float>(options.height) / static_cast<float>(kLeastWindow.height)});
  settings.greeted = options.greeted;
  return settings;
}

}  // namespace

Status open_window(const Startup& asked) {
  Settings settings = read_settings();
  const bool first_start = !path_exists(settings_path());
  mark(asked, "options and source");
  auto reading = std::async(std::launch::async, read_resources);  // while the system opens the window
  auto window = Window::open("Headlight", settings.window);
  if (!window) {
    Error error = window.error();
    error.found += "; without a display there are `./run export` (the numbers) and `./run screenshot` (a picture)";
    return error;
  }
  QuitSignals signals(&Window::wake);  // from the moment in which the window can be seen
  if (first_start) suit_desktop(settings, **window);
  mark(asked, "window");
  const auto folder = TRY(asset_folder());
  auto maps = TRY(make_map_painter(folder / "shaders"));
  const auto resources = TRY(reading.get());
  mark(asked, "words, samples, lessons, shaders");
  Fonts& fonts = (*window)->gui().fonts();
  const auto autosave = autosave_path();
  Startup start = asked;
  std::optional<Notice> notice;
  if (!start.asked && !autosave.empty()) restore(start, notice, autosave);
  const auto lock = lock_autosave(autosave);
  const Document first = first_document(resources.shipped.get(), settings.language);
  const bool restored = notice && notice->kind == Notice::Kind::restored;
  if (!start.open.empty() || (!start.asked && !restored)) start.session.document = first;
  AppState state = initial_state(resources.lexicon, std::move(start.session.document), settings,
                                 std::move(start.session.model_warnings), resources.shipped);
  state.view = start.session.view;
  state.session_path = start.session_path;
  if (restored) state.saved_document = first;  // what was restored was never saved
  if (const Status begun = begin_lessons(state, resources.lessons, start); !begun) return begun;
  if (!start.asked && !restored) take_up(state, settings);
  // A source of the command line gets the last window's view, unless the source has a view.
  else if (!restored && start.session_path.empty() && start.lesson.empty()) take_layout(state, settings.layout);
  if (!start.lesson.empty()) start.session.lesson = {};
  take_beside(state, start.session, notice);
  begin_looking(state);
  // The first frame has the glyphs of its words.
  fonts.keep(window_characters() + state.document.source.text + state.document.target.text + state.document.text_pair);
  if (notice) state.notice = std::move(notice);
  if (!state.notice && !resources.lessons.problems.empty()) state.notice = notice_of(resources.lessons.problems);
  mark(asked, "state");
  Loop loop(&Window::wake, autosave.string(), {drawer_with(tools()), trained_folder(), previewer_with(tools()), {}});
  Motion motion;
  KeptTexts texts;
  Screen screen{.begin_frame = [&] { (*window)->begin_frame(state.settings.ui_scale); },
                .end_frame = [&](Rgb background) { (*window)->end_frame(background); },
                .fonts = fonts,
                .maps = *maps,
                .samples = resources.samples,
                .motion = &motion,
                .texts = &texts};
  Commands commands;
  if (!start.open.empty()) commands.emplace_back(OpenPath{start.open});
  run_window(**window, signals, screen, state, loop, std::move(commands), asked);
  return Done{};
}

Status screenshot(const Startup& start, const ScreenshotOptions& options) {
  auto surface = TRY(Offscreen::open(options.width, options.height));
  auto context = TRY(GuiContext::open());
  const auto resources = TRY(read_resources());
  const auto folder = TRY(asset_folder());
  auto maps = TRY(make_map_painter(folder / "shaders"));
  Fonts& fonts = context->fonts();
  fonts.keep(window_characters());

  const Settings settings = picture_settings(options);
  Document document = start.session.document;
  if (!start.open.empty()) document = first_document(resources.shipped.get(), settings.language);
  else if (!options.greeted && document.source.text == kDefaultSentence)  // as a window of this language opens
    document.source.text = first_document(resources.shipped.get(), settings.language).source.text;
  AppState state =
      initial_state(resources.lexicon, std::move(document), settings, start.session.model_warnings, resources.shipped);
  state.view = start.session.view;
  state.session_path = start.session_path;
  if (start.against) keep(state, TRY(answer_to_keep(*start.against, resources.lexicon)));
  if (const Status begun = begin_lessons(state, resources.lessons, start); !begun) return begun;
  begin_looking(state, options.own_head);
  if (!start.session.lost.empty()) state.notice = notice_of(start.session.lost);
  const Result<PassingFolder> trained = PassingFolder::make();  // without one nothing is trained
  Loop loop({}, {}, {.kept = trained ? trained->path() : std::filesystem::path()});
  loop.settle(state);
  if (Commands opened{OpenPath{start.open}}; !start.open.empty()) loop.step(state, opened, 0);
  if (options.prepare) TRY(options.prepare(loop, state));
  if (options.view) show_view(state, *options.view);
  loop.settle(state);
  // The measured time of an answer would make every picture different.
  state.trace.milliseconds = 0;

  DrawnBoxes boxes;
  const ImVec2 size{static_cast<float>(options.width), static_cast<float>(options.height)};
  const Screen screen{.begin_frame = [&] { context->begin_frame(size, 1.0f / 60, settings.ui_scale); },
                      .end_frame = [&](Rgb background) { context->end_frame(background); },
                      .fonts = fonts,
                      .maps = *maps,
                      .samples = resources.samples,
                      .unit = settings.ui_scale,
                      .boxes = options.boxes.empty() ? nullptr : &boxes};
  for (int frame = 0; frame < kFramesAfterEvent || (fonts.wants_frame() && frame < 10); ++frame) {
    Commands commands;
    build_frame(screen, state, loop, commands);
    screen.end_frame(background_of(settings.theme));
    loop.step(state, commands, 0);
    loop.settle(state);
  }
  const auto picture = png_of(surface.read());
  if (const Status written = write_file(options.file, picture); !written) return written;
  if (options.boxes.empty()) return Done{};
  return write_file(options.boxes, boxes_json(boxes, options.width, options.height));
}

}  // namespace headlight
