// Pictures in other sizes, as Pillow makes them.
#include "read/picture/resample.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "core/golden_pictures.h"

namespace headlight {
namespace {

TEST(Resampling, IsThatOfPillow) {
  const Picture source = pillows("source.png");
  std::size_t count = 0;
  for (const std::string& file : pictures_named(".ppm")) {
    int resampling = 0, width = 0, height = 0;
    const std::string name = file.substr(0, file.size() - 4);
    if (std::sscanf(name.c_str(), "source-%d-%d-%d", &resampling, &width, &height) != 3) continue;
    EXPECT_TRUE(resized(source, width, height, static_cast<Resampling>(resampling)) == pillows(name)) << name;
    ++count;
  }
  EXPECT_EQ(count, 36u);
}

TEST(Resampling, CutsTheMiddleOut) {
  const Picture source = pillows("source.png");
  std::size_t count = 0;
  for (const std::string& file : pictures_named(".ppm")) {
    int width = 0, height = 0;
    const std::string name = file.substr(0, file.size() - 4);
    if (std::sscanf(name.c_str(), "source-cut-%d-%d", &width, &height) != 2) continue;
    EXPECT_TRUE(cropped(source, width, height) == pillows(name)) << name;
    ++count;
  }
  EXPECT_EQ(count, 6u);
}

TEST(Resampling, OfOneColourIsThatColour) {
  const Picture source{5, 3, std::vector<std::uint8_t>(45, 200)};
  for (int resampling = 0; resampling < 6; ++resampling)
    for (const Index side : {1, 2, 7, 300}) {
      const Picture picture = resized(source, side, side + 1, static_cast<Resampling>(resampling));
      EXPECT_TRUE(std::all_of(picture.pixels.begin(), picture.pixels.end(), [](int value) { return value == 200; }))
          << resampling << ' ' << side;
    }
}

}  // namespace
}  // namespace headlight
