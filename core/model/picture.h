// A picture as its file shows it, and as the model reads it: cut into patches, each of which is a token.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/index.h"
#include "base/matrix.h"
#include "base/names.h"

namespace headlight {

struct Tokens;

/// 8 bits a channel, red, green and blue, rows from the top: (height, width, 3).
struct Picture {
  Index width = 0, height = 0;
  std::vector<std::uint8_t> pixels = {};

  friend bool operator==(const Picture&, const Picture&) = default;
};

/// By how a file begins.
bool is_png(std::string_view bytes);
bool is_jpeg(std::string_view bytes);
bool is_webp(std::string_view bytes);

/// The tokens of a picture: those of the model, then square patches row after row.
struct PatchGrid {
  Index patch = 0;                        // pixels along a side of a patch
  Index rows = 0, cols = 0;               // patches
  std::vector<std::string> leading = {};  // names of the tokens before the patches: CLS, DIST, R1, R2 …

  Index first() const { return static_cast<Index>(leading.size()); }
  Index tokens() const { return first() + rows * cols; }
  friend bool operator==(const PatchGrid&, const PatchGrid&) = default;
};

struct PatchedPicture {
  std::string name = {};  // of its file
  Bilingual done = {};    // with its file's pixels, in words: "resized 640×480 → 224×224 (bicubic)"; empty: unknown
  PatchGrid grid;
  Picture seen;  // (rows·patch, cols·patch): after resizing and cropping
  Matrix patches;  // (rows·cols, 3·patch²): normalised; of a patch all red numbers row after row, then green, then blue
};

/// The patches of normalised pixels (height, width, 3), whose size is that of the grid.
Matrix patches_of(const PatchGrid& grid, const std::vector<float>& pixels);

/// The tokens of a picture, its name their text. A patch is named by its row and column, from 0: "3,5".
Tokens picture_tokens(std::shared_ptr<const PatchedPicture> picture);

}  // namespace headlight
