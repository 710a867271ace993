#include "bench/draw.h"

#include <stdlib.h>

#include <algorithm>
#include <deque>
#include <initializer_list>

#include "assets/assets.h"
#include "bench/drawn_window.h"
#include "bench/inputs.h"
#include "bench/measure.h"
#include "bench/presses.h"
#include "gui/frame/imgui_compat.h"

namespace headlight {
namespace {

constexpr int kPressesARound = 40;

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

/// DINOv2-S with registers at 518 pixels, as far as a frame knows it: 72 heads over 37 × 37 patches and five tokens.
Document picture() {
  constexpr Index kSide = 37, kPatch = 14, kPixels = kSide * kPatch;
  const auto model = random_model({.d_model = 96, .num_heads = 6, .num_layers = 12, .ffn = 0, .norm = Norm::pre});
  model->patches = PatchGrid{.patch = kPatch, .rows = kSide, .cols = kSide, .leading = {"CLS", "R1", "R2", "R3", "R4"}};
  PatchEmbedding& patches = model->embeddings.patches.emplace();
  patches.projection.weight = 0.1f * drawn_matrix(96, 3 * kPatch * kPatch, 1);
  patches.leading = drawn_matrix(5, 96, 2);
  PictureInput input{
      .path = "/picture.png", .hash = "0123456789abcdef", .picture = {.width = kPixels, .height = kPixels}};
  for (Index i = 0; i < 3 * kPixels * kPixels; ++i)
    input.picture.pixels.push_back(static_cast<std::uint8_t>(i / kPixels % 251 + i % 5));
  Document document;
  document.model = model;
  document.model_path = "/model";
  document.mask.causal = false;
  if (!set_picture(document, std::make_shared<const PictureInput>(std::move(input)))) document.seen = nullptr;
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
  ImGui::GetBackgroundDrawList()->AddRectFilled({0, 0}, {kDrawnWidth, kDrawnHeight}, IM_COL32(240, 240, 240, 255));
  stage.end({});
  return 0;
}

/// Rectangles in place of textures, one for each cell, as a Dear ImGui program draws a heat map by itself.
double rectangles(Stage& stage, const std::vector<Matrix>& maps, int across) {
  stage.begin();
  const double begin = seconds_now();
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const ImVec2 slot{static_cast<float>(kDrawnWidth / across), static_cast<float>(kDrawnHeight / across)};
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

/// All that is drawn frame by frame, and what it is drawn from.
struct Gallery {
  Stage& stage;
  const BenchOptions& options;
  std::filesystem::path shaders;
  std::deque<DrawnWindow> drawn = {};
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
  DrawnWindow& window = drawn.emplace_back(stage, std::move(*painter), ask());
  frames.add(
      "draw/frame/" + of, "draw/own/" + of, [&window] { return window.frame(); }, window.maps.get());
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
  DrawnWindow& window = drawn.emplace_back(stage, std::move(*painter), ask());
  const auto add = [&](const char* kind, void (*change)(AppState&)) {
    frames.add(
        kind + of, "",
        [&window, change] {
          change(window.state);
          return window.frame();
        },
        window.maps.get());
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

/// The text scrolls, or the picture stays, and another word or patch is chosen in every frame.
Status Gallery::add_text(const std::string& of, const std::function<Document()>& ask) {
  if (!wants(of, {"draw/text/", "draw/text-own/"})) return Done{};
  auto painter = make_map_painter(shaders);
  if (!painter) return painter.error();
  DrawnWindow& window = drawn.emplace_back(stage, std::move(*painter), ask());
  frames.add("draw/text/" + of, "draw/text-own/" + of, [&window] {
    ViewState& view = window.state.view;
    const Index words = window.state.trace->queries();
    update(window.state, Pin{CellRef{((view.pinned ? view.pinned->query : 0) + 37) % words, 0}});
    Commands none;
    window.loop.step(window.state, none, seconds_now());
    return window.frame();
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
  auto surface = Offscreen::open(kDrawnWidth, kDrawnHeight);
  if (!surface) return surface.error();
  auto context = GuiContext::open();
  if (!context) return context.error();
  auto resources = read_resources();
  if (!resources) return resources.error();
  const auto folder = TRY(asset_folder());
  (*context)->fonts().keep(window_characters());
  Stage stage{std::move(*surface), std::move(*context), std::move(*resources)};
  Gallery gallery{.stage = stage, .options = options, .shaders = folder / "shaders"};

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
  if (const Status added = gallery.add_text("picture/T=1374", picture); !added) return added.error();
  gallery.add_rectangles(windows[3].first, 1, one);
  BenchReport report;
  gallery.frames.measure(options.rounds, report);

  const int presses = kPressesARound * options.rounds;
  for (const PressedRow& pressed : pressed_rows()) {
    if (!options.wants(pressed.name) || pressed.tokens > longest) continue;
    auto painter = TRY(make_map_painter(gallery.shaders));
    report.rows.push_back(TRY(pressed.measured(pressed.name, stage, std::move(painter), presses)));
  }
  for (BenchRow& row : report.rows) row.threads = threads;
  return report;
}

}  // namespace headlight
