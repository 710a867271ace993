// A labelled map as items of a page, laid out as the window lays it out (map_layout.h).
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "figure/map_scene.h"
#include "figure/page.h"

namespace headlight {

/// A head's map as it is printed: its weights, and what its rows and columns are called.
struct PrintedMap {
  Matrix weights;  // −1 where blocked; perhaps pooled
  const std::vector<Token>* queries = nullptr;
  const std::vector<Token>* keys = nullptr;
  /// Of a picture whose patches the squares are: the picture, how much of it they cover, and tokens without words.
  std::shared_ptr<const PatchedPicture> picture = {};
  float cover = 1;
  std::shared_ptr<const std::array<std::vector<Token>, 2>> own = {};  // of sides that are not the answer's
  Matrix shades = {};  // of MapKind::strongest what is painted by head_scale() in place of the weights

  void take(std::vector<Token> rows, std::vector<Token> columns) {
    own = std::make_shared<const std::array<std::vector<Token>, 2>>(std::array{std::move(rows), std::move(columns)});
    queries = &(*own)[0], keys = &(*own)[1];
  }
  Index num_queries() const { return static_cast<Index>(queries->size()); }
  Index num_keys() const { return static_cast<Index>(keys->size()); }
};

/// All of a head, folded where the subject is, pooled to at most `most` cells a side.
PrintedMap printed_map(const FigureSubject& subject, const HeadRef& head, Index most, Language language);

/// The map of one head over a picture: for each patch a square, its weight from or to the first chosen token.
PrintedMap printed_grid(const FigureSubject& subject, const FigureOptions& options, const HeadRef& head);

/// Whether a cell is shown as a blocked one.
bool has_blocked(const ColourScale& scale, const Matrix& weights);

/// Both axes of a map at one size of type.
struct MapAxes {
  AxisText queries, keys;
  float size = 9;
};
/// At `page.label`, or smaller down to `page.least_label` where that lets every row and column be named in the layout,
/// or in that of a map of `side` points.
MapAxes map_axes(const Page& page, const PrintedMap& map, const std::function<MapLayout(const MapAxes&)>& layout);
MapAxes map_axes(const Page& page, const PrintedMap& map, float side);

MapLayout layout_of(const PrintedMap& map, const MapAxes& axes, const Box& area,
                    float largest_cell = std::numeric_limits<float>::infinity());

/// The height of the labels above a map: layout_map leaves at least that much room.
float label_height(const MapAxes& axes, const MapLayout& layout);

/// Strips in the colours of a conversation's roles, for maps that are too small for their names: as wide as `width`, at
/// the left of `left_top` and above it, along the rows and columns of `plot`.
void add_role_strips(Page& page, const PrintedMap& map, const Box& plot, Point left_top, float width, Theme theme);

/// Labels of a page at this size; the ink of a token's label: dim where it is padding.
MapStyle page_style(const Page& page, float size);
LabelInk plain_ink(const Page& page, const std::vector<Token>& tokens);

/// Adds the cells, their frame and their labels, those of padding dim where no other `inks` are given; with `values`
/// the numbers where there is room for them.
void add_map(Page& page, const PrintedMap& map, const MapAxes& axes, const MapLayout& layout, const ColourScale& scale,
             bool values, const MapInks& inks = {});

/// Points: a cell of a map whose rows and columns are no words of the sentence.
inline constexpr float kLargestNamed = 26;
/// Adds a map with its numbers in the middle of the page, at most `side` high, its cells at most `largest_cell`;
/// `roles`: beside it the bands of a conversation's roles, where tokens have one. `page.y` is below it.
void add_large_map(Page& page, const PrintedMap& map, float side, float largest_cell, const ColourScale& scale,
                   const FigureOptions* roles = nullptr);

}  // namespace headlight
