// One head as a labelled map: the same drawing in the grid and large.
#pragma once

#include <functional>

#include "figure/labels.h"
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
  const FoldedStack* folded = nullptr;  // null: every token has its own row and column
  MapKind kind = MapKind::weights;      // what the weights are, if not that
  std::uint64_t slot = 0;               // names the place where it fades from one content to the next; 0: it never does
};

/// All of a head at once: its thumbnail, its map with tokens folded, or its map of another kind.
MapContent whole_content(const AppState& state, HeadRef head);

/// The row of the region in which a query is, the column in which a key is; nothing where it is not in the region.
std::optional<Index> map_row(const MapContent& content, Index query);
std::optional<Index> map_column(const MapContent& content, Index key);

/// Before the window is drawn, where it has a Motion: what that must know of the frame.
void begin_motion(const Gui& gui);

/// How strongly maps are drawn that answer an earlier question.
inline constexpr float kStaleOpacity = 0.55f;
/// How strongly the answer on the screen is drawn: paler where a newer one is late; not while a training replaces it every moment.
float answer_opacity(const Gui& gui);

/// The words along an axis, ready to be drawn. Each is made when it is first asked for: of a long text few are drawn.
class AxisWords {
 public:
  AxisWords() = default;
  /// `make` gives word 0 … count − 1, and may refer to what lives as long as the frame.
  AxisWords(Index count, std::function<std::string(Index)> make);
  std::size_t size() const { return words_.size(); }
  const std::string& operator[](std::size_t at) const;
  void set(std::size_t at, std::string word) { words_[at] = std::move(word); }
  std::vector<std::string> all() const;

 private:
  std::function<std::string(Index)> make_;
  mutable std::vector<std::optional<std::string>> words_;
};

/// The measures of the labels of the current answer's axes, at the current font.
struct AxisLabels {
  AxisWords queries, keys;
  LabelMetrics query_metrics, key_metrics;
  Index first_query = 0, first_key = 0;              // which tokens the first labels are
  bool number_queries = false, number_keys = false;  // too many words to be read: their numbers stand in their place
};
AxisLabels axis_labels(Gui& gui, const MapContent& content);
AxisLabels axis_labels(Gui& gui, const std::vector<Token>& queries, const std::vector<Token>& keys,
                       const Viewport& part = {});

/// The colours of the labels that are not lit, by row and by column.
struct LabelInks {
  std::function<ImU32(Index)> rows, columns;
};
/// The labels beside a map and above it; the lit ones are always there, in the accent's colour.
void draw_axis_labels(Gui& gui, ImDrawList& list, const AxisLabels& labels, const MapLayout& layout,
                      const LabelInks& inks, std::optional<Index> lit_row, std::optional<Index> lit_column);

/// The tokens along the rows and the columns of the whole pattern, folded as the map is.
const std::vector<Token>& row_tokens(const AppState& state, const MapContent& content);
const std::vector<Token>& column_tokens(const AppState& state, const MapContent& content);

/// The outline of a cell, at least large enough to be seen.
void outline_box(const Gui& gui, ImDrawList& list, Box box, float thickness);

/// What the wheel over a large map of queries × keys, or dragging it with the right button, makes of the part that it shows;
/// nothing where they do nothing. `under` is the cell under the pointer.
std::optional<Viewport> turned(const Viewport& now, Index queries, Index keys, float cell_size,
                               const std::optional<CellRef>& under);
/// Which part a large map shows, and a button; true where all of it is to be seen again.
bool part_line(Gui& gui, const Viewport& part);
float part_line_width(Gui& gui, const Viewport& part);

/// The layout that draw_map uses; callers find the positions of cells in it.
MapLayout map_layout(const MapContent& content, const AxisLabels& labels, const Box& area);

/// The colour scale of a map: that of everything on the screen, or up to its own largest weight where the look says so.
ColourScale map_scale(const AppState& state, const MapContent& content);

/// Draws the map with labels, the hovered and the pinned cell; gives the cell of the pattern under the pointer, of
/// folded tokens the first.
std::optional<CellRef> draw_map(Gui& gui, ImDrawList& list, const MapContent& content, const AxisLabels& labels,
                                const MapLayout& layout, float opacity);

}  // namespace headlight
