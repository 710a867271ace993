// The scene of a labelled map: rows and columns by name, numbers in cells, outlines of cells. The maps of heads, those
// of Compare and those of figures are drawn by it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "figure/drawing/drawing.h"
#include "view/settings.h"

namespace headlight {

/// The words along an axis. Each is made when it is first asked for: of a long text few are drawn.
class AxisWords {
 public:
  AxisWords() = default;
  /// `make` gives word 0 … count − 1, and may refer to what lives as long as the frame.
  AxisWords(Index count, std::function<std::string(Index)> make)
      : make_(std::move(make)), words_(static_cast<std::size_t>(count)) {}
  std::size_t size() const { return words_.size(); }
  const std::string& operator[](std::size_t at) const {
    if (!words_[at]) words_[at] = make_(static_cast<Index>(at));
    return *words_[at];
  }
  void set(std::size_t at, std::string word) { words_[at] = std::move(word); }

 private:
  std::function<std::string(Index)> make_;
  mutable std::vector<std::optional<std::string>> words_;
};

/// The labels of one side of a map.
struct AxisText {
  AxisWords words;
  LabelMetrics metrics;
  Index first = 0;       // the number of the first word
  bool numbers = false;  // too many words to be read: their numbers stand there instead
};

struct MapStyle {
  const TextWidth& measure;
  InkColours ink;
  float em = 9, line = 12;  // of labels: their size, and the height of a line
  float gap = 4;            // between labels and cells
};

/// The colour of label i where it is not lit.
using LabelInk = std::function<Rgb(Index)>;
struct MapInks {
  LabelInk rows = {}, columns = {};
};

/// Adds the labels beside the rows and above the columns, as many as stand apart; the lit one always, accented.
void add_row_labels(Drawing& scene, const AxisText& axis, const MapLayout& layout, const MapStyle& style,
                    const LabelInk& ink, std::optional<Index> lit = {});
void add_column_labels(Drawing& scene, const AxisText& axis, const MapLayout& layout, const MapStyle& style,
                       const LabelInk& ink, std::optional<Index> lit = {});

struct MapNumbers {
  float size = 9;                // an em
  float least = 0.0050001f;      // smaller numbers are not printed: at least those that would read .00
  CellRef first = {};            // the cell of `weights` at the layout's top left corner
  std::vector<Index> pale = {};  // columns, ascending, that are covered: their numbers have the text's colour
};
/// Adds the numbers of the cells that the layout shows; none where there is no number, and in blocked ones.
void add_numbers(Drawing& scene, const Matrix& weights, const MapLayout& layout, const ColourScale& scale,
                 const MapNumbers& numbers, const MapStyle& style);

/// Bands in the colours of a conversation's roles, with their names or first letters where those have room.
struct RoleBands {
  Language language = Language::en;
  Theme theme = Theme::light;
  float width = 12, out = 16;  // of a band; from its outer edge to the labelled map
  float size = 9, pad = 2;     // an em of the names; room that they leave
  float gap = 1, corner = 0;   // between bands
};
/// Adds the bands of the rows at the left of `left_top` and those of the columns above it. Hit boxes: `rows ROLE FIRST`
/// and `columns ROLE FIRST`.
void add_role_bands(Drawing& scene, const std::vector<RoleRun>& rows, const std::vector<RoleRun>& columns,
                    const MapLayout& layout, Point left_top, const RoleBands& bands, const TextWidth& measure);

/// Adds a ramp of colours, framed, and under it as many of its numbers as do not touch; `size` is their em.
void add_ramp(Drawing& scene, const Ramp& ramp, float size, const InkColours& ink, const Pen& pen,
              const TextWidth& measure);

/// The outline of a cell, at least large enough to be seen.
Rectangle cell_outline(const Box& cell, float least, Rgb colour, float width);

}  // namespace headlight
