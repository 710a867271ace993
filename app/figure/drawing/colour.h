// Colour means weight. One perceptually even map a theme, nothing = background; what a number looks like, decided here
// and nowhere else: window, picture files and colour bar read the same table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/matrix.h"
#include "model/tokens.h"
#include "view/settings.h"
#include "view/view_state.h"

namespace headlight {

struct Rgb {
  std::uint8_t r = 0, g = 0, b = 0;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};

/// How weights become positions on the colour map: linear over [0, top], or logarithmic over [top·10^-decades, top]
/// with everything smaller at the bottom. `top` is positive.
struct ColourScale {
  Theme theme = Theme::light;
  Scale scale = Scale::linear;
  float top = 1;
  bool diverging = false;  // numbers on both sides of zero: linear over [-top, top], zero in the neutral middle
  ColourMap colours = ColourMap::teal;  // of what is not diverging
  float bottom = 0;                     // of a linear scale that does not diverge: [bottom, top]

  static constexpr float kDecades = 4;
  friend bool operator==(const ColourScale&, const ColourScale&) = default;
};

/// The same over a range that was asked for, linear; of a diverging scale over one that reaches as far on both sides.
ColourScale in_range(ColourScale scale, const std::optional<ColourRange>& range);
/// The same up to the largest of these numbers, a range of their own.
ColourScale of_numbers(ColourScale scale, const Matrix& numbers);

/// The position of a weight on the map, 0 … 1. Weights above `top` are at 1; NaN and those below `bottom` at 0. Of a
/// diverging scale 0 is in the middle, and so is NaN.
float position_on_map(const ColourScale& scale, float weight);

/// 256 colours, first to last; lightness changes evenly in OKLab (Ottosson 2020), from the theme's background, so that
/// every map is legible to colour-blind eyes and in a copy without colours. Hues of ColourMap::teal run from teal over
/// blue to violet, free of the accent's orange; of viridis and cividis as in the maps of those names (van der Walt &
/// Smith 2015; Nuñez, Anderton & Renslow 2018), the second of them alike to red-green blind eyes; grey has none.
/// ColourMap::heads: behind the background the kHeadColours of head_colour() in kHeadShades each, from pale to full.
const std::array<Rgb, 256>& colour_map(Theme theme, ColourMap map = ColourMap::teal);

/// The map for numbers on both sides of zero: rose below, blue above, the background in the middle, equally far from it
/// in lightness on both sides.
const std::array<Rgb, 256>& diverging_map(Theme theme);

/// The colour of a weight.
Rgb colour_of(const ColourScale& scale, float weight);

/// The background of a view, and the colour of a weight of 0.
Rgb background_of(Theme theme);

/// Blocked cells: diagonal lines on the background, or the flat tint where a cell is too small for lines.
struct BlockedColours {
  Rgb line, tint;
};
BlockedColours blocked_colours(Theme theme);

/// Where a map has no cell: calmer than any weight, and yet not the background, which is a weight of 0.
Rgb gap_colour(Theme theme);

/// Colours of heads whose lines are drawn into each other: kHeadColours hues that stay apart, then the same again. None
/// is the accent's orange.
inline constexpr std::size_t kHeadColours = 12;
Rgb head_colour(Theme theme, std::size_t index);

/// The band of a role of a conversation beside a map: hues that red-green blind eyes distinguish, none a weight's.
Rgb role_colour(Theme theme, ChatRole role);

/// Text on a view's background: what is read first, and what is read second.
struct InkColours {
  Rgb text, dim, line, accent;
};
InkColours ink_colours(Theme theme);

/// Whether text on this colour is to be dark.
bool needs_dark_text(Rgb background);

/// Black or white, whichever reads better: a contrast of at least 4.5 (WCAG 2.1, 1.4.3) on any colour.
Rgb text_on(Rgb background);

/// The top of a colour bar of weights: the smallest of 1, 2, 5 × 10^k that is at least `largest`, which dropout may
/// make more than 1; 1 where there is nothing to show.
float nice_top(float largest);
/// The same for bars of weights. Weights below a millionth are noise: bars of them have no height.
inline float top_of_weights(float largest) { return largest < 1e-6f ? 1 : nice_top(largest); }

/// The smallest of 1, 2, 5 × 10^k that is at least `largest`, for numbers of any magnitude; 1 where there is nothing.
float nice_range(float largest);

/// Numbers to print beside the colour bar, in its order: from the bottom up, the top the last.
std::vector<float> ticks(const ColourScale& scale);

}  // namespace headlight
