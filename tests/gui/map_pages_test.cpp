// What of the maps is sent to the GPU, and kept there.
#include "gl/map_texture.h"

#include "gui/map_texture_fixture.h"

namespace headlight {
namespace {

MapSlot placed(MapPages& pages, const Matrix& weights, std::uint64_t version, int frame) {
  const auto known = pages.find({version}, frame);
  return known ? *known : pages.add(weights, {version}, frame);
}

TEST_F(MapTextureTest, ContentIsSentOnceAndSlotsAreUsedAgain) {
  MapPages pages;
  const Matrix weights = Matrix::Constant(10, 10, 0.5f);
  const MapSlot first = placed(pages, weights, 1, 1);
  placed(pages, weights, 1, 2);
  EXPECT_EQ(pages.uploads(), 1);
  std::uint64_t version = 2;
  for (; version <= 256; ++version) EXPECT_EQ(placed(pages, weights, version, 3).texture, first.texture);
  EXPECT_EQ(pages.uploads(), 256);
  EXPECT_NE(placed(pages, weights, version, 4).texture, 0u);
  const MapSlot again = placed(pages, weights, ++version, 5);
  EXPECT_EQ(placed(pages, weights, 1, 6).texture, first.texture);
  EXPECT_EQ(pages.uploads(), 259) << "the first had made room";
  EXPECT_NE(again.texture, 0u);
}

TEST_F(MapTextureTest, LargeMatricesHaveATextureOfTheirOwn) {
  Matrix weights = Matrix::Zero(530, 610);
  weights(0, 0) = weights(529, 609) = 1;
  const ColourScale colours{Theme::light, Scale::linear, 1};
  const Picture seen = map(weights, 1, {0, 0}, {620, 540}, colours);
  EXPECT_EQ(at(seen, 0, 0), colour_of(colours, 1));
  EXPECT_EQ(at(seen, 619, 539), colour_of(colours, 1));
  EXPECT_EQ(at(seen, 310, 270), colour_of(colours, 0));
}

TEST_F(MapTextureTest, MoreCellsThanATextureHoldsAreDrawn) {
  Matrix weights = Matrix::Zero(2, 70'000);
  weights(0, 0) = weights(1, 69'999) = 1;
  const ColourScale colours{Theme::light, Scale::linear, 1};
  const Picture seen = map(weights, 1, {10, 20}, {510, 40}, colours);
  EXPECT_EQ(at(seen, 10, 25), colour_of(colours, 1));
  EXPECT_EQ(at(seen, 509, 35), colour_of(colours, 1));
  EXPECT_EQ(at(seen, 10, 35), colour_of(colours, 0));
  EXPECT_EQ(at(seen, 509, 25), colour_of(colours, 0));
}

// A crowded map is sent once for each size, and for each offset within a pixel: scrolling by pixels sends nothing.
TEST_F(MapTextureTest, CrowdedMapsAreSentOnceForEachSize) {
  const Matrix weights = ramp(100, 100);
  const ColourScale linear, logarithmic{.scale = Scale::log, .top = 0.2f};
  const auto sent = [&](ImVec2 min, float side, const ColourScale& colours) {
    const int before = uploads(*painter_);
    map(weights, 1, min, {min.x + side, min.y + side}, colours);
    return uploads(*painter_) - before;
  };
  EXPECT_EQ(sent({10, 10}, 50, linear), 1);
  EXPECT_EQ(sent({10, 10}, 50, logarithmic), 0);
  EXPECT_EQ(sent({17, 3}, 50, linear), 0);
  EXPECT_EQ(sent({17.25f, 3}, 50, linear), 1);
  EXPECT_EQ(sent({10, 10}, 51, linear), 1);
  EXPECT_EQ(sent({10, 10}, 100, linear), 1) << "a pixel a cell: as it is";
  EXPECT_EQ(sent({10, 10}, 200, linear), 0);
  EXPECT_EQ(sent({30, 20}, 50, logarithmic), 0);
  EXPECT_EQ(sent({30, 20}, 50, {.diverging = true}), 1) << "pooled otherwise";
}

// The part of a map that no pixel's middle is in has no pixel, wherever it begins.
TEST_F(MapTextureTest, CrowdedMapsFillTheSamePixelsAsOthers) {
  const ColourScale colours{Theme::dark, Scale::linear, 1};
  for (const float begin : {10.f, 10.3f, 10.7f}) {
    const ImVec2 min{begin, begin}, max{begin + 33.4f, begin + 33.4f};
    const Picture crowded = map(Matrix::Constant(90, 90, 1.f), 1, min, max, colours);
    const Picture roomy = map(Matrix::Constant(3, 3, 1.f), 2, min, max, colours);
    EXPECT_EQ(crowded.pixels, roomy.pixels) << begin;
  }
}

TEST_F(MapTextureTest, ManyMapsOverManyFrames) {
  const ColourScale colours;
  for (int frame = 0; frame < 12; ++frame) {
    const Picture seen = picture(Theme::light, [&](ImDrawList& list) {
      for (int i = 0; i < 144; ++i) {
        const Matrix weights = Matrix::Constant(10, 10, static_cast<float>((i + frame) % 9) / 8);
        const ImVec2 min(static_cast<float>(i % 12 * 40), static_cast<float>(i / 12 * 40));
        const auto version = static_cast<std::uint64_t>(frame * 144 + i);
        painter_->draw(list, weights, version, min, {min.x + 30, min.y + 30}, colours, 1);
      }
    });
    for (int i = 0; i < 144; ++i) {
      const Rgb expected = colour_of(colours, static_cast<float>((i + frame) % 9) / 8);
      ASSERT_EQ(at(seen, i % 12 * 40 + 15, i / 12 * 40 + 15), expected) << frame << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace headlight
