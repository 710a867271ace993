// The pictures that tests/golden/pillow.py made, and what Pillow makes of them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "model/picture.h"

namespace headlight {

inline const std::filesystem::path kPictures = std::filesystem::path(HEADLIGHT_TEST_DATA) / "golden/pictures";

/// What Pillow makes of a picture: a PPM file.
inline Picture pillows(const std::string& name) {
  const auto bytes = read_file(kPictures / (name + ".ppm"));
  EXPECT_TRUE(bytes) << name;
  std::istringstream header(*bytes);
  std::string kind;
  int most = 0;
  Picture picture;
  header >> kind >> picture.width >> picture.height >> most;
  EXPECT_EQ(kind + std::to_string(most), "P6255");
  picture.pixels.assign(bytes->begin() + header.tellg() + 1, bytes->end());
  return picture;
}

/// The names of pictures with such an ending, in order.
inline std::vector<std::string> pictures_named(const std::string& ending) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kPictures))
    if (const std::string name = entry.path().filename().string(); name.ends_with(ending)) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace headlight
