#include <epoxy/gl.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <initializer_list>
#include <mutex>

#include "bench/draw.h"

#include "bench/inputs.h"
#include "bench/measure.h"
#include "gl/frame.h"
#include "gl/gui_context.h"
#include "gl/map_texture.h"
#include "gl/offscreen.h"
#include "gui/frame/imgui_compat.h"
#include "gui/frame/kept_texts.h"
#include "gui/shell/shell.h"
#include "session/startup.h"

namespace headlight {
namespace {

constexpr int kWidth = 1600, kHeight = 1000;
constexpr int kPressesARound = 40;
constexpr int kLongestAnswer = 60;  // seconds

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

  void begin() { context->begin_frame({kWidth, kHeight}, 1.0f / 60, 1); }
  void end(Rgb background) {
    context->end_frame(background);
    glFinish();
  }
};

/// A window of its own on the stage, with its own textures.
struct Scene {
  KeptTexts texts;
  Scene(Stage& on, std::unique_ptr<MapPainter> painter, Document document)
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

Document patterns(std::size_t layers, std::size_t heads, Index tokens) {
  Document document;
  document.model = computed_patterns(layers, heads, tokens);
  return document;
}

/// So many words, no two neighbours alike.
Document long_text(Index tokens) {
  Document document;
  document.config = {.d_model = 16, .num_heads = 2, .num_layers = 1, .ffn = 0};
  document.source.text.clear();
  for (Index i = 0; i < tokens; ++i)
    document.source.text +=
        (i > 0 ? " " : "") + std::string(i % 7 == 3 ? "attention" : "word") + std::to_string(i % 977);
  return document;
}

Document empty_text() {
  Document document;
  document.source.text.clear();
  return document;
}

/// A frame of nothing: what the renderer takes for the background alone.
double background(Stage& stage) {
  stage.begin();
  ImGui::GetBackgroundDrawList()->AddRectFilled({0, 0}, {kWidth, kHeight}, IM_COL32(240, 240, 240, 255));
  stage.end({});
  return 0;
}

/// Rectangles in place of textures, one for each cell, as a Dear ImGui program draws a heat map by itself.
double rectangles(Stage& stage, const std::vector<Matrix>& maps, int across) {
  stage.begin();
  const double begin = seconds_now();
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const ImVec2 slot{static_cast<float>(kWidth / across), static_cast<float>(kHeight / across)};
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const Matrix& map = maps[i];
    const int place = static_cast<int>(i);
    const float left = slot.x * static_cast<float>(place % across), top = slot.y * static_cast<float>(place / across);
    const float width = (slot.x - 2) / static_cast<float>(map.cols());
    const float height = (slot.y - 2) / static_cast<float>(map.rows());
    for (Index row = 0; row < map.rows(); ++row) {
      list.PrimReserve(static_cast<int>(map.cols()) * 6, static_cast<int>(map.cols()) * 4);
      const float y = top + height * static_cast<float>(row);
      for (Index column = 0; column < map.cols(); ++column) {
        const float x = left + width * static_cast<float>(column);
        const int level = static_cast<int>(map(row, column) * 255);
        list.PrimRect({x, y}, {x + width, y + height}, IM_COL32(255 - level, 255 - level, 255, 255));
      }
    }
  }
  const double own = seconds_now() - begin;
  stage.end({});
  return own;
}

/// Frames in turn: in each round every kind of frame for a while, after one that is not timed.
class Frames {
 public:
  /// `frame` draws one and gives the seconds of it that are our own; `maps` counts its uploads.
  void add(std::string name, std::string own, std::function<double()> frame, const MapPainter* maps = nullptr) {
    kinds_.push_back({std::move(name), std::move(own), std::move(frame), maps, 0, {}, {}});
  }
  void measure(int rounds, BenchReport& report) {
    for (int round = 0; round < rounds; ++round)
      for (Kind& kind : kinds_) take(kind);
    for (Kind& kind : kinds_) {
      report.rows.push_back(
          {.name = kind.name, .time = timing_of(kind.whole), .uploads = kind.maps ? kind.uploads : -1});
      if (!kind.own_name.empty()) report.rows.push_back({.name = kind.own_name, .time = timing_of(kind.own)});
    }
  }

 private:
  struct Kind {
    std::string name, own_name;
    std::function<double()> frame;
    const MapPainter* maps;
    int uploads;
    std::vector<double> whole, own;
  };
  static void take(Kind& kind) {
    for (int i = 0; i < (kind.whole.empty() ? kFramesAfterEvent : 1); ++i) kind.frame();
    const int before = kind.maps ? uploads(*kind.maps) : 0;
    const double begin = seconds_now();
    double own = 0, seconds = 0;
    int frames = 0;
    do {
      own += kind.frame();
      ++frames;
      seconds = seconds_now() - begin;
    } while (seconds < kShortestTurn);
    kind.whole.push_back(seconds / frames);
    kind.own.push_back(own / frames);
    if (kind.maps) kind.uploads += uploads(*kind.maps) - before;
  }
  std::vector<Kind> kinds_;
};

/// Seconds until what is done in the next frame is answered in a slot and on the screen, by turns as the window takes
/// them.
Result<double> until_answered(
    Scene& scene, Commands commands = {},
    std::uint64_t (*version_of)(const AppState&) = [](const AppState& state) { return state.trace.version(); }) {
  const auto version = version_of(scene.state);
  const double begin = seconds_now(), give_up = begin + kLongestAnswer;
  step_and_wait(scene.state, scene.loop, commands, begin);
  for (int frames = kFramesAfterEvent; seconds_now() < give_up; --frames) {
    scene.loop.step(scene.state, commands, seconds_now());
    show_frame(scene.screen, scene.state, scene.loop, commands, seconds_now());
    if (version_of(scene.state) != version && !is_stale(scene.state)) return seconds_now() - begin;
    scene.bell.wait(sleep_before_frame(scene.loop, frames, seconds_now()));
  }
  return bad_input("bench draw", "", "an answer within " + std::to_string(kLongestAnswer) + " s", "none");
}

/// The median of all presses, and the lowest and highest.
Result<BenchRow> keys(const std::string& name, int presses, const std::function<Result<double>(int)>& press) {
  std::vector<double> seconds;
  for (int i = 0; i < presses; ++i) {
    const auto taken = press(i);
    if (!taken) return taken.error();
    if (i > 0) seconds.push_back(*taken);
  }
  return BenchRow{.name = name, .time = timing_of(std::move(seconds))};
}

/// Alt M, which shows and hides what is to come.
Result<BenchRow> key_on_shipped(const std::string& name, Stage& stage, std::unique_ptr<MapPainter> painter,
                                int presses) {
  Scene scene(stage, std::move(painter), default_document(stage.resources.shipped.get()));
  for (int i = 0; i < kFramesAfterEvent; ++i) scene.frame();
  return keys(name, presses, [&](int) {
    inject_key(Key::left_alt, true);
    inject_key(Key::m, true);
    const auto taken = until_answered(scene);
    inject_key(Key::m, false);
    inject_key(Key::left_alt, false);
    scene.loop.settle(scene.state);
    for (int i = 0; i < kFramesAfterEvent; ++i) scene.frame();
    return taken;
  });
}

Document ids_of_gpt2(Index tokens) {
  Document document;
  document.model = random_gpt2_small();
  document.mask.causal = true;
  for (Index i = 0; i < tokens; ++i) document.source.ids.push_back(i);
  return document;
}

/// One more word at the end of a text, of which all that came before is known.
Result<BenchRow> word_on_gpt2(const std::string& name, Stage& stage, std::unique_ptr<MapPainter> painter, int presses) {
  constexpr Index kTokens = 128;
  const Document document = ids_of_gpt2(kTokens - 1);
  Scene scene(stage, std::move(painter), document);
  return keys(name, presses, [&](int press) -> Result<double> {
    Commands shorter{SetIds{document.source.ids}};
    scene.loop.step(scene.state, shorter, seconds_now());
    scene.loop.settle(scene.state);
    for (int i = 0; i < kFramesAfterEvent; ++i) scene.frame();
    Commands longer{AppendWord{Candidate{.id = 1000 + press, .text = {}, .probability = 0, .row = 0}}};
    const auto taken = until_answered(scene, std::move(longer));
    if (scene.state.trace && scene.state.trace->queries() != kTokens)
      return bad_input("bench draw", "", std::to_string(kTokens) + " tokens",
                       std::to_string(scene.state.trace->queries()));
    return taken;
  });
}

/// Another cell while *Why?* is open: its score split over what wrote query and key.
Result<BenchRow> cell_in_why(const std::string& name, Stage& stage, std::unique_ptr<MapPainter> painter, int presses,
                             Document document) {
  Scene scene(stage, std::move(painter), std::move(document));
  const Index tokens = scene.state.trace->queries();
  update(scene.state, ShowView{View::inside});
  update(scene.state, ShowTab{InsideTab::why});
  scene.loop.settle(scene.state);
  return keys(name, presses, [&](int press) {
    for (int i = 0; i < kFramesAfterEvent; ++i) scene.frame();
    const Index query = tokens - 1 - press % (tokens / 2);
    return until_answered(scene, {Pin{CellRef{query, query / 2}}},
                          [](const AppState& state) { return state.writers.version(); });
  });
}

/// So many of the words that a model was trained on.
Document words_of_shipped(const Resources& resources, Index tokens) {
  Document document = default_document(resources.shipped.get());
  for (Index i = 0; i < tokens; ++i) document.source.ids.push_back(10 + i % 40);
  return document;
}

/// All that is drawn frame by frame, and what it is drawn from.
struct Gallery {
  Stage& stage;
  const BenchOptions& options;
  std::filesystem::path shaders;
  std::deque<Scene> scenes = {};
  Frames frames = {};

  bool wants(const std::string& of, std::initializer_list<const char*> kinds) const {
    return std::any_of(kinds.begin(), kinds.end(), [&](const char* kind) { return options.wants(kind + of); });
  }
  Status add_window(const std::string& of, const std::function<Document()>& ask);
  Status add_changes(const std::string& of, const std::function<Document()>& ask);
  Status add_text(const std::string& of, const std::function<Document()>& ask);
  void add_rectangles(const std::string& of, int across, Index tokens);
};

Status Gallery::add_window(const std::string& of, const std::function<Document()>& ask) {
  if (!wants(of, {"draw/frame/", "draw/own/"})) return Done{};
  auto painter = make_map_painter(shaders);
  if (!painter) return painter.error();
  Scene& scene = scenes.emplace_back(stage, std::move(*painter), ask());
  frames.add(
      "draw/frame/" + of, "draw/own/" + of, [&scene] { return scene.frame(); }, scene.maps.get());
  return Done{};
}

/// The look is another one in every frame.
Status Gallery::add_changes(const std::string& of, const std::function<Document()>& ask) {
  constexpr const char* kColours = "draw/change/colours/";
  constexpr const char* kScale = "draw/change/scale/";
  constexpr const char* kRange = "draw/change/range/";
  if (!wants(of, {kColours, kScale, kRange})) return Done{};
  auto painter = make_map_painter(shaders);
  if (!painter) return painter.error();
  Scene& scene = scenes.emplace_back(stage, std::move(*painter), ask());
  const auto add = [&](const char* kind, void (*change)(AppState&)) {
    frames.add(
        kind + of, "",
        [&scene, change] {
          change(scene.state);
          return scene.frame();
        },
        scene.maps.get());
  };
  add(kColours, [](AppState& state) {
    Settings settings = state.settings;
    settings.colours = static_cast<ColourMap>((static_cast<int>(settings.colours) + 1) % kColourMaps);
    update(state, SetSettings{settings});
  });
  add(kScale, [](AppState& state) {
    update(state, SetColourScale{state.view.scale == Scale::log ? Scale::linear : Scale::log});
  });
  add(kRange, [](AppState& state) { update(state, SetOwnRange{!state.view.own_range}); });
  return Done{};
}

/// The text scrolls, and another word is chosen in every frame.
Status Gallery::add_text(const std::string& of, const std::function<Document()>& ask) {
  if (!wants(of, {"draw/text/", "draw/text-own/"})) return Done{};
  auto painter = make_map_painter(shaders);
  if (!painter) return painter.error();
  Scene& scene = scenes.emplace_back(stage, std::move(*painter), ask());
  frames.add("draw/text/" + of, "draw/text-own/" + of, [&scene] {
    ViewState& view = scene.state.view;
    const Index words = scene.state.trace->queries();
    update(scene.state, Pin{CellRef{((view.pinned ? view.pinned->query : 0) + 37) % words, 0}});
    Commands none;
    scene.loop.step(scene.state, none, seconds_now());
    return scene.frame();
  });
  return Done{};
}

void Gallery::add_rectangles(const std::string& of, int across, Index tokens) {
  if (!wants(of, {"draw/rectangles/", "draw/rectangles-own/"})) return;
  std::vector<Matrix> maps;
  for (int i = 0; i < across * across; ++i)
    maps.push_back((drawn_matrix(tokens, tokens, static_cast<std::uint64_t>(i)).array() + 1) / 2);
  frames.add("draw/rectangles/" + of, "draw/rectangles-own/" + of,
             [this, across, maps = std::move(maps)] { return rectangles(stage, maps, across); });
}

}  // namespace

Result<BenchReport> bench_draw(const BenchOptions& options) {
  const int threads = *std::max_element(options.threads.begin(), options.threads.end());
  ::setenv("LP_NUM_THREADS", std::to_string(threads).c_str(), 1);  // of Mesa's renderer, once it is opened
  auto surface = Offscreen::open(kWidth, kHeight);
  if (!surface) return surface.error();
  auto context = GuiContext::open();
  if (!context) return context.error();
  auto resources = read_resources();
  if (!resources) return resources.error();
  (*context)->fonts().keep(window_characters());
  Stage stage{std::move(*surface), std::move(*context), std::move(*resources)};
  Gallery gallery{.stage = stage, .options = options, .shaders = stage.resources.folder / "shaders"};

  const Index longest = options.longest > 0 ? options.longest : kMaxTokens;
  const auto of = [](const char* what, Index tokens) { return what + ("/T=" + std::to_string(tokens)); };
  const Index many = std::min<Index>(longest, 128), few = std::min<Index>(longest, 64);
  const Index one = std::min<Index>(longest, 2048);
  const std::pair<std::string, std::function<Document()>> windows[] = {
      {"empty", empty_text},
      {of("heads=144", many), [&] { return patterns(12, 12, many); }},
      {of("heads=48", few), [&] { return patterns(4, 12, few); }},
      {of("head", one), [&] { return patterns(1, 1, one); }}};
  if (options.wants("draw/frame/background"))
    gallery.frames.add("draw/frame/background", "", [&] { return background(stage); });
  for (const auto& [name, ask] : windows)
    if (const Status added = gallery.add_window(name, ask); !added) return added.error();
  if (const Status added = gallery.add_changes(windows[1].first, windows[1].second); !added) return added.error();
  gallery.add_rectangles(windows[1].first, 12, many);
  const Index most = std::min<Index>(longest, 8192);
  if (const Status added = gallery.add_text(of("heads=2", most), [&] { return long_text(most); }); !added)
    return added.error();
  gallery.add_rectangles(windows[3].first, 1, one);
  BenchReport report;
  gallery.frames.measure(options.rounds, report);

  const int presses = kPressesARound * options.rounds;
  const auto add_key = [&](const std::string& name, Index tokens, auto&& measured) -> Status {
    if (!options.wants(name) || tokens > longest) return Done{};
    auto painter = make_map_painter(gallery.shaders);
    if (!painter) return painter.error();
    auto row = measured(name, stage, std::move(*painter), presses);
    if (!row) return row.error();
    report.rows.push_back(std::move(*row));
    return Done{};
  };
  if (const Status added = add_key("draw/key/shipped/T=10", 10, key_on_shipped); !added) return added.error();
  if (const Status added = add_key("draw/key/gpt2-small/T=128", 128, word_on_gpt2); !added) return added.error();
  const auto add_why = [&](const char* shape, Index tokens, auto&& document) {
    return add_key("draw/why/" + std::string(shape) + "/T=128", tokens, [&](const std::string& name, auto&&... rest) {
      return cell_in_why(name, std::forward<decltype(rest)>(rest)..., document());
    });
  };
  if (const Status added = add_why("shipped", 128, [&] { return words_of_shipped(stage.resources, 128); }); !added)
    return added.error();
  if (const Status added = add_why("gpt2-small", 128, [] { return ids_of_gpt2(128); }); !added) return added.error();
  for (BenchRow& row : report.rows) row.threads = threads;
  return report;
}

}  // namespace headlight
