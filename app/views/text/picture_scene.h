// The scene of a picture with weights over it: a square for each patch, and chips for the model's tokens before them.
// Window and figures draw the same.
#pragma once

#include <algorithm>
#include <vector>

#include "views/text/text_scene.h"

namespace headlight {

/// Where a picture and its tokens stand.
struct PictureLayout {
  PatchGrid grid;
  std::vector<Box> chips;  // of the tokens before the patches
  Box image;
  float em = 9;  // of the chips' words

  /// The box of a token.
  Box box(Index token) const;
  float height() const { return image.bottom(); }
  float width() const { return std::max(image.w, chips.empty() ? 0 : chips.back().right()); }
};

/// The largest picture that has room, its patches of whole `step`s (pixels of a screen; 0: any size), behind a row of
/// chips. The top left corner of all is (0, 0).
PictureLayout picture_layout(const PatchGrid& grid, float width, float height, float em, float step,
                             const TextWidth& measure);
/// The same, elsewhere.
PictureLayout moved(PictureLayout layout, Point by);

/// Adds the picture, its weights over it with `cover`, 0: not at all, 1: nothing is seen of the picture; the outlines
/// of the chosen tokens, and the hit box of each token.
void add_shaded_picture(Drawing& scene, const PictureLayout& layout, const Tokens& tokens, const TextMarks& marks,
                        float cover, const InkColours& ink);

/// The hit box of token i is `picture token i`.
inline constexpr std::string_view kPictureHits = "picture token ";

}  // namespace headlight
