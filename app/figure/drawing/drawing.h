// A scene: a picture as data. Shapes and texts in points (1/72 inch) or pixels from the top left corner, and the boxes
// that can be pointed at, by name. A view makes it once for the sizes it is given; cairo paints it into a file
// (paper/fonts.h) and Dear ImGui into the window (gui/frame/scene.h); tests read it as it is.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "figure/drawing/colour.h"
#include "figure/drawing/map_layout.h"
#include "model/picture.h"

namespace headlight {

/// Numbers that a scene shows, kept by the scene or by the answer that they are part of.
using SharedMatrix = std::shared_ptr<const Matrix>;
inline SharedMatrix shared(Matrix matrix) { return std::make_shared<const Matrix>(std::move(matrix)); }

/// Weights as cells of equal size that fill the box, coloured by colour_of(scale, weight). −1, of a diverging scale
/// −inf: blocked, hatched or, too small for lines, tinted. NaN: there is no cell.
struct Cells {
  Box box;
  SharedMatrix weights;
  ColourScale scale;
  float opacity = 1;
};

/// A picture that fills the box, its pixels unsmoothed.
struct Image {
  Box box;
  std::shared_ptr<const PatchedPicture> picture;
};

/// Whether a number of such cells is that of a blocked one; one that is.
inline bool is_blocked(const ColourScale& scale, float number) {
  return scale.diverging ? number == -std::numeric_limits<float>::infinity() : number < 0;
}
inline float blocked_number(const ColourScale& scale) {
  return scale.diverging ? -std::numeric_limits<float>::infinity() : -1.0f;
}

/// The colours of a scale, its smallest number at the left.
struct Ramp {
  Box box;
  ColourScale scale;
};

struct Rectangle {
  Box box;
  std::optional<Rgb> fill = {}, line = {};
  float width = 0;    // of the line, inside and outside in equal parts
  float corner = 0;   // the radius of its corners
  float opacity = 1;  // of the fill
};

struct Stroke {
  Point from, to;
  float width = 1;
  Rgb colour = {};
  float head = 0;  // the length of the arrow's head at `to`; 0: none
};

/// The head of such an arrow, its tip first: 0.8 of its length to either side.
std::array<Point, 3> arrow_head(const Stroke& arrow);

/// A cubic curve that leaves and arrives level: its control points stand half-way between the ends.
struct Curve {
  Point from, to;
  float width = 1;
  Rgb colour = {};
  float opacity = 1;
};

/// A line through cubic curves: where it begins, then two control points and an end for each.
struct Path {
  std::vector<Point> points;
  float width = 1;
  Rgb colour = {};
  float opacity = 1;
  float dash = 0;  // the length of the dashes of a broken line, two thirds of it between them; 0: it is whole
  float head = 0;  // the length of the arrow's head that goes on beyond its end; 0: none
};

/// The head of such a path, its tip first: at least half as wide as long, and wider than the line.
std::array<Point, 3> arrow_head(const Path& path);

enum class Role { title, label, value, caption };
enum class Anchor { left, middle, right };
/// level: from left to right. upwards: turned by 90°, read from the bottom up. stacked: characters one above the other.
enum class TextRotation { level, upwards, stacked };

/// A line of text. The middle of its ink, 0.37 em above its base line, goes through `at`: a level line begins, is
/// centred or ends there; turned and stacked ones stand with their lower end on it.
struct Text {
  Point at;
  std::string text;
  float size = 9;   // an em
  float width = 0;  // of the text as a level line
  Role role = Role::label;
  Rgb colour = {};
  Anchor anchor = Anchor::left;
  TextRotation turn = TextRotation::level;
};

using Item = std::variant<Cells, Image, Ramp, Rectangle, Stroke, Curve, Path, Text>;

/// A box that can be pointed at: `node encoder.0.q`, `flow query 3`.
struct Hit {
  std::string name;
  Box box;
  friend bool operator==(const Hit&, const Hit&) = default;
};

struct Drawing {
  float width = 0, height = 0;
  Rgb background = {};
  std::vector<Item> items = {};  // later ones over earlier ones
  std::vector<Hit> hits = {};
  std::string caption = {};  // of a figure, drawn or not

  template <class T>
  void add(T item) {
    items.emplace_back(std::move(item));
  }
};

/// The lines of a scene: on paper thin, half of them over what they frame; on a screen a pixel wide and beside it.
struct Pen {
  float width = 0.5f, outset = 0;
  /// The frame of a map.
  Rectangle frame(const Box& box, Rgb colour) const {
    return {{box.x - outset, box.y - outset, box.w + 2 * outset, box.h + 2 * outset}, {}, colour, width};
  }
};

/// The width of a line of text whose em is `size`, in the font that it will be drawn in.
using TextWidth = std::function<float(std::string_view text, float size)>;

/// A text with its width in that font.
Text text_of(Point at, std::string text, float size, Rgb colour, const TextWidth& measure, Anchor anchor = Anchor::left,
             Role role = Role::label, TextRotation turn = TextRotation::level);

/// The box that an item covers; of text its ems.
Box bounds(const Item& item);

/// The middle of the ink above the base line, in ems (gui/font.cpp draws its lines the same way).
inline constexpr float kInkMiddle = 0.37f;

}  // namespace headlight
