// One head as a labelled map: the same drawing in the grid and large.
#pragma once

#include "figure/labels.h"
#include "figure/map_scene.h"
#include "gui/frame/gui.h"

namespace headlight {

/// Weights below this are not printed in their cells: they would hide those that matter.
inline constexpr float kLeastPrinted = 0.05f;

/// The contents of a map: a region of a head of the answer on the screen, or all of it with tokens folded.
struct MapContent {
  HeadRef head = {};
  const Matrix* weights = nullptr;      // −1 where blocked; may be pooled to fewer cells than the region has
  std::uint64_t version = 0;            // names the content of `weights`
  Region region;                        // what the weights cover: tokens, or where they are folded their groups
  bool values = false;                  // print the numbers in the cells where there is room
  const FoldedStack* folded = nullptr;  // null: every token has one row and one column
  const PictureGrids* grid = nullptr;   // of a picture: a square for each patch instead, of the chosen tokens' weights
  MapKind kind = MapKind::weights;      // what the weights are, if not that
  const Matrix* shades = nullptr;       // of MapKind::strongest what is painted by head_scale() in their place
  std::uint64_t slot = 0;  // identifies the box in which it fades from one content to the next; 0: it never does
};

/// All of a head at once: its thumbnail, its map with tokens folded, or its map of another kind.
MapContent whole_content(const AppState& state, HeadRef head);

/// Whether every cell is the weight of one token at another, so that cells are zoomed into, edited and painted.
bool shows_tokens(const MapContent& content);
/// The cell of the pattern that a cell of the map stands for, of folded tokens the first.
CellRef cell_of(const MapContent& content, const CellRef& on_map);

/// The row of the region in which a query is, the column in which a key is; nothing where it is not in the region.
std::optional<Index> map_row(const MapContent& content, Index query);
std::optional<Index> map_column(const MapContent& content, Index key);

/// Before the window is drawn, where it has a Motion: what that must know of the frame.
void begin_motion(const Gui& gui);

/// How strongly maps are drawn that answer an earlier question.
inline constexpr float kStaleOpacity = 0.55f;
/// How strongly the answer on the screen is drawn: paler where a newer one is late; not while a training replaces it
/// every moment.
float answer_opacity(const Gui& gui);

/// The labels of the current answer's axes, measured in the small font.
struct AxisLabels {
  AxisText queries, keys;
};
AxisLabels axis_labels(Gui& gui, const MapContent& content);
AxisLabels axis_labels(Gui& gui, const std::vector<Token>& queries, const std::vector<Token>& keys,
                       const Viewport& part = {});

/// How scenes of maps are written in the window: in the small font.
MapStyle map_style(const Gui& gui, const TextWidth& measure);

/// What stands on a map besides its cells.
struct MapMarks {
  LabelInk rows, columns;
  std::optional<Index> lit_row = {}, lit_column = {};
  float row_gap = 0;                                 // between the rows' labels and the map, beside that of the style
  std::optional<CellRef> pinned = {}, hovered = {};  // rows and columns of the map
  std::vector<CellRef> by_hand = {};                 // whose weights are set by hand
  const Matrix* numbers = nullptr;                   // are printed where cells have room for them
  ColourScale scale = {};
  MapNumbers look = {};  // their size is that of the labels
};
void draw_marks(Gui& gui, ImDrawList& list, const AxisLabels& labels, const MapLayout& layout, MapMarks marks);

/// The tokens along the rows and the columns of the whole pattern, folded as the map is.
const std::vector<Token>& row_tokens(const AppState& state, const MapContent& content);
const std::vector<Token>& column_tokens(const AppState& state, const MapContent& content);

/// The part that a large map of queries × keys shows after the wheel was turned over it, or it was dragged with the
/// right button; nothing where neither changes it. `under` is the cell under the pointer.
std::optional<Viewport> turned(const Viewport& now, Index queries, Index keys, float cell_size,
                               const std::optional<CellRef>& under);
/// Which part a large map shows, and a button; true where all of it is to be seen again.
bool part_line(Gui& gui, const Viewport& part);
float part_line_width(Gui& gui, const Viewport& part);

/// A map whose rows and columns are no words of the sentence: what wrote a score, what a patch brings back.
struct NamedMap {
  std::string name;  // of its box
  const std::vector<Token>& rows;
  const std::vector<Token>& columns;
  const Matrix& values;
  std::uint64_t version = 0;  // names the content of `values`
  ColourScale scale;
  float opacity = 1;
};
/// The cell that the pointer is on, and whether it was clicked.
struct PointedCell {
  std::optional<CellRef> cell = {};
  bool clicked = false;
};
/// Draws it as large as the area has room for, with its numbers; the cursor is left below it.
PointedCell named_map(Gui& gui, const NamedMap& map, const Box& area);

/// The layout that draw_map uses; callers find the positions of cells in it.
MapLayout map_layout(const MapContent& content, const AxisLabels& labels, const Box& area);

/// The colour scale of a map: that of everything on the screen, or up to the largest weight of this map where the look
/// asks for it.
ColourScale map_scale(const AppState& state, const MapContent& content);

/// Draws the cells alone, those of special columns paler, and their frame.
void draw_cells(Gui& gui, ImDrawList& list, const MapContent& content, const MapLayout& layout, float opacity);
/// Draws the map with labels, the hovered and the pinned cell; gives the cell of the pattern under the pointer, of
/// folded tokens the first. On the strip beside the map, which shows a row's share on special tokens that are left out,
/// it is the cell of the one with the largest weight.
std::optional<CellRef> draw_map(Gui& gui, ImDrawList& list, const MapContent& content, const AxisLabels& labels,
                                const MapLayout& layout, float opacity);

}  // namespace headlight
