#include "model/picture.h"

#include <cassert>

#include "model/tokens.h"

namespace headlight {

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }
bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }
bool is_webp(std::string_view bytes) {
  return bytes.size() >= 12 && bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP";
}

Matrix patches_of(const PatchGrid& grid, const std::vector<float>& pixels) {
  constexpr Index kChannels = 3;
  const Index side = grid.patch, width = grid.cols * side;
  assert(static_cast<Index>(pixels.size()) == grid.rows * side * width * kChannels);
  Matrix patches(grid.rows * grid.cols, kChannels * side * side);
  for (Index row = 0; row < grid.rows * side; ++row)
    for (Index col = 0; col < width; ++col)
      for (Index channel = 0; channel < kChannels; ++channel)
        patches(row / side * grid.cols + col / side, (channel * side + row % side) * side + col % side) =
            pixels[static_cast<std::size_t>((row * width + col) * kChannels + channel)];
  return patches;
}

Tokens picture_tokens(std::shared_ptr<const PatchedPicture> picture) {
  Tokens tokens;
  const PatchGrid& grid = picture->grid;
  tokens.text = picture->name;
  const auto add = [&tokens](const std::string& name, bool special) {
    tokens.tokens.push_back(
        {.id = static_cast<std::int64_t>(tokens.size()), .text = name, .raw = name, .special = special});
  };
  for (const std::string& name : grid.leading) add(name, true);
  for (Index row = 0; row < grid.rows; ++row)
    for (Index col = 0; col < grid.cols; ++col) add(std::to_string(row) + "," + std::to_string(col), false);
  tokens.picture = std::move(picture);
  return tokens;
}

}  // namespace headlight
