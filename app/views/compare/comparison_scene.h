// The scene of Compare: a head in A, in B and B − A on the joint axes of both. Window and figure draw the same.
#pragma once

#include <array>
#include <optional>

#include "derived/answer_comparison.h"
#include "figure/map_scene.h"
#include "views/text/picture_scene.h"

namespace headlight {

enum class JointSide { a, b, difference };

/// A's ink is rose, as what is below zero in a difference, B's blue, as what is above; that of their difference is the
/// text's.
Rgb joint_ink(JointSide side, Theme theme);

/// The sizes of a page or a window.
struct ComparisonSizes {
  float title = 9, line = 12;  // an em of titles, and the height of a line of labels
  float largest_cell = std::numeric_limits<float>::infinity();
};

struct ComparedMap {
  JointSide side = JointSide::a;
  const char *title = "", *name = "";  // the name of its hit box
  Matrix PatternPair::*cells = &PatternPair::a;
  Point at = {};  // of the title
  MapLayout layout = {};
};
using ComparisonLayout = std::array<ComparedMap, 3>;

/// A, B and B − A, equally large and side by side, the words of the rows beside the first alone. Where that leaves each
/// less than 12 ems, as many stand in a row as makes them largest.
ComparisonLayout comparison_layout(const Box& area, Index rows, Index columns, const LabelMetrics& row_labels,
                                   const LabelMetrics& column_labels, const ComparisonSizes& sizes);

/// Adds the titles and the hit boxes: `map A`, `map B` and `map difference`.
void add_titles(Drawing& scene, const ComparisonLayout& maps, float size, Theme theme, const TextWidth& measure);

/// Of the labels from the first of the part on: words that only one answer has are in its colour, those of padding in
/// `pad`, all others in `word`.
MapInks joint_inks(const JointStack& stack, const Viewport& part, Theme theme, Rgb word, Rgb pad);

/// Says in a map of differences that there are none, where all are 0: a blank map could be one that is not drawn yet.
void add_nothing_differs(Drawing& scene, const Matrix& difference, const Box& plot, Language language,
                         const MapStyle& style);

// Two pictures under one head: what a token looks at in A, in B and B − A, each over its picture.
struct ComparedPicture {
  JointSide side = JointSide::a;
  const char* title = "";
  const Tokens& tokens;  // with the picture
  const Matrix& cells;   // (T, T)
};
using ComparedPictures = std::array<ComparedPicture, 3>;

/// A, B and B − A, all of them views of the arguments; nothing where these are no two pictures that are cut alike, each
/// token with a row and a column.
std::optional<ComparedPictures> compared_pictures(const Trace& a, const Trace& b, const PatternPair& maps);

/// How high the title of a picture is, in ems.
inline constexpr float kPictureTitle = 1.6f;

/// Where the three stand below the top of the area: side by side, or where the words above each have no room so, one
/// below the other. `step`: as picture_layout has it.
std::array<PictureLayout, 3> compared_layouts(const ComparedPictures& pictures, const Box& area, float em, float step,
                                              float gap, const TextWidth& measure);

struct ComparedMarks {
  Index query = 0;  // the token whose row is shown, outlined
  ColourScale scale = {};
  float cover = kUsualCover, outline = 0.5f;
};
/// Adds one of them, its title above, and the hit box of each token: `picture A token 7`.
void add_compared_picture(Drawing& scene, const PictureLayout& layout, const ComparedPicture& shown,
                          const ComparedMarks& marks, const TextWidth& measure);

}  // namespace headlight
