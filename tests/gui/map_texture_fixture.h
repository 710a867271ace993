// Maps drawn by the GPU, or its software, into pixels that are read back.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "gl/gui_context.h"
#include "gl/map_texture.h"
#include "gl/offscreen.h"

namespace headlight {

inline const std::filesystem::path kShaders = std::filesystem::path(HEADLIGHT_TEST_DATA).parent_path() / "shaders";

class MapTextureTest : public testing::Test {
 protected:
  static constexpr int kWidth = 640, kHeight = 560;

  void SetUp() override {
    auto surface = Offscreen::open(kWidth, kHeight);
    if (!surface) GTEST_SKIP() << surface.error().message();
    surface_.emplace(std::move(*surface));
    auto gui = GuiContext::open();
    if (!gui) GTEST_SKIP() << gui.error().message();
    gui_ = std::move(*gui);
    auto painter = make_map_painter(kShaders);
    ASSERT_TRUE(painter) << painter.error().message();
    painter_ = std::move(*painter);
  }
  void TearDown() override {
    painter_.reset();
    gui_.reset();
  }

  // One frame with what `fill` draws.
  template <class Fill>
  Picture picture(Theme theme, const Fill& fill) {
    gui_->begin_frame({kWidth, kHeight}, 1.f / 60, 1);
    fill(*ImGui::GetBackgroundDrawList());
    gui_->end_frame(background_of(theme));
    return surface_->read();
  }

  // One frame with one map.
  Picture map(const Matrix& weights, std::uint64_t version, ImVec2 min, ImVec2 max, const ColourScale& colours,
              float opacity = 1) {
    return picture(colours.theme,
                   [&](ImDrawList& list) { painter_->draw(list, weights, version, min, max, colours, opacity); });
  }

  static Rgb at(const Picture& seen, int x, int y) {
    const auto* p = seen.pixels.data() + 3 * (y * seen.width + x);
    return {p[0], p[1], p[2]};
  }
  static int apart(Rgb a, Rgb b) { return std::max({std::abs(a.r - b.r), std::abs(a.g - b.g), std::abs(a.b - b.b)}); }

  std::optional<Offscreen> surface_;
  std::unique_ptr<GuiContext> gui_;
  std::unique_ptr<MapPainter> painter_;
};

inline Matrix ramp(int rows, int columns) {
  Matrix weights(rows, columns);
  for (int i = 0; i < weights.size(); ++i)
    weights.data()[i] = std::pow(static_cast<float>(i) / static_cast<float>(weights.size() - 1), 3.f);
  return weights;
}

}  // namespace headlight
